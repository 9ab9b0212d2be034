// What JSX becomes in the panel. It is smaller than the runtime that the app uses.
export { createElement as h, Fragment } from 'preact';
