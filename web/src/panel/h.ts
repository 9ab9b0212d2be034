// The JSX factory of the panel. It is smaller than the runtime that the app uses.
export { createElement as h, Fragment } from 'preact';
