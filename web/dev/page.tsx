// The run view over made-up data; the query of the address says how much: ?shape={…}
import { render } from 'preact';
import { RunView } from '../src/run/view';
import { fake, growing, type Shape } from './fake';

const query = new URLSearchParams(location.search);
const theme = query.get('theme');
if (theme) document.documentElement.dataset.theme = theme;
const shape = { cases: 300, columns: 3, assertions: 5, ...(JSON.parse(query.get('shape') ?? '{}') as Partial<Shape>) };
const source = shape.mode === 'growing' ? growing(shape) : fake(shape);
render(<><nav class="devnav">proviso</nav><main class="dev"><h1>support-bot v14</h1><RunView source={source} /></main></>, document.body);
