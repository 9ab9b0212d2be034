import { post } from './mark.js';

const panel = document.querySelector('proviso-panel'), now = document.getElementById('now');
const show = (assertions) => { now.textContent = JSON.stringify(assertions, null, 2); };

const { assertions } = await post('/api/assertions');
panel.assertions = assertions;
panel.lint = '/api/lint';
panel.addEventListener('proviso-change', (e) => show(e.detail.assertions));
show(assertions);
