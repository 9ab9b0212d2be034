import { render } from 'preact';

render(<p>proviso</p>, document.body);
