import { mark, post } from './mark.js';

const panel = document.querySelector('proviso-panel'), output = document.getElementById('output');

const answer = await post('/api/results');
document.getElementById('input').textContent = answer.input;
output.textContent = answer.output;

panel.output = answer.output;
panel.results = answer.response;
panel.addEventListener('proviso-evidence', (e) => mark(output, e.detail));
panel.addEventListener('proviso-label', (e) => e.waitUntil(post('/api/label', e.detail)));
