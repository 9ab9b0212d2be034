// What people say of the verdicts of a row. The app gives the view of a run an element for
// it; a report has none.
import { createContext, type ComponentType } from 'preact';
import type { DetailAssertion } from '../api';

export interface LabelledProps { of: DetailAssertion; brief?: boolean }

// Labelled shows the labels on an assertion, and lets people disagree with its verdict.
// With brief it only shows them.
export const Labelled = createContext<ComponentType<LabelledProps> | undefined>(undefined);
