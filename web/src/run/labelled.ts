// Human labels on the verdicts of a row. The app gives the run view an element for them; a
// report has none.
import { createContext, type ComponentType } from 'preact';
import type { DetailAssertion } from '../api';

export interface LabelledProps { of: DetailAssertion; brief?: boolean }

// Labelled shows the labels on an assertion, and lets people disagree with its verdict.
// With brief it only shows the labels.
export const Labelled = createContext<ComponentType<LabelledProps> | undefined>(undefined);
