import { mark, post } from './mark.js';

const panel = document.querySelector('proviso-panel'), output = document.getElementById('output');

// The application asks its model and lets proviso judge the answer.
const answer = await post('/api/answer');
document.getElementById('input').textContent = answer.input;
output.textContent = answer.output;

panel.output = answer.output;
panel.evaluation = answer.evaluation;
panel.getToken = () => post('/api/token', { evaluation: answer.evaluation });
panel.addEventListener('proviso-evidence', (e) => mark(output, e.detail));
