// A model for the playground that speaks the protocol of OpenAI: it judges by the wording
// of the criteria, and answers with what it was asked. It takes its time if a test says so.
import { createServer } from 'node:http';

export async function model({ delay = 0 } = {}) {
  const m = { delay, judged: [], asked: [], waiting: [], held: false, fail: 0, answer: undefined };
  const server = createServer((request, reply) => {
    let body = '';
    request.on('data', (part) => { body += part; });
    request.on('end', () => {
      const messages = JSON.parse(body).messages, fence = /^Fence: ([0-9a-f]{32})\n/.exec(messages[1]?.content ?? '')?.[1];
      let text;
      if (fence) {
        const part = (name) => messages[1].content.split(`\n[${fence} begin ${name}]\n`)[1].split(`\n[${fence} end ${name}]\n`)[0];
        const output = part('output'), assertions = JSON.parse(part('assertions'));
        m.judged.push(...assertions.map((a) => a.id));
        text = JSON.stringify({ results: assertions.map((a) => ({ id: a.id, criteria: a.criteria.map((c) => decide(c, output)) })) });
      } else {
        m.asked.push(messages);
        text = m.answer ?? messages.map((x) => x.content).join('\n');
      }
      const send = () => {
        if (m.fail) return reply.writeHead(m.fail, { 'Content-Type': 'application/json' }).end('{"error": {"message": "the test lets this fail"}}');
        reply.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: text }, finish_reason: 'stop' }], usage: { total_tokens: 3, prompt_tokens: 2, completion_tokens: 1 } }));
      };
      if (m.held) m.waiting.push(send);
      else setTimeout(send, m.delay);
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return Object.assign(m, {
    hold() { m.held = true; },
    go() { m.held = false; m.waiting.splice(0).forEach((f) => f()); },
    serve: { args: ['--allow-host', '127.0.0.1', '--judge', 'openai:chat:m', '--no-cache'], env: { OPENAI_BASE_URL: `http://127.0.0.1:${server.address().port}/v1`, OPENAI_API_KEY: 'sk-of-the-test' } },
    close: () => { server.closeAllConnections(); server.close(); },
  });
}

// decide compares words: those in quotation marks have to be in the output.
function decide({ n, text }, output) {
  const word = /"([^"]+)"/.exec(text)?.[1] ?? text, at = output.indexOf(word);
  return { n, evidence: at >= 0 ? [word] : [], reasoning: at >= 0 ? `The output has ${word}.` : `The output lacks ${word}.`, verdict: at >= 0 ? 'met' : 'not_met' };
}
