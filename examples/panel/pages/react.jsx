import { StrictMode, useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { mark, post } from './mark.js';

// React 19 sets the properties of a custom element and listens to its events.
function App() {
  const [answer, set] = useState(null), [labels, label] = useState([]);
  const output = useRef(null);
  useEffect(() => { void post('/api/answer').then(set); }, []);
  return (
    <>
      <h1>React</h1>
      <div className="beside">
        <article>
          <h2>Question</h2>
          <p id="input">{answer?.input}</p>
          <h2>Answer</h2>
          <p id="output" ref={output}>{answer?.output}</p>
        </article>
        <aside aria-label="Verdicts on the answer">
          <proviso-panel
            output={answer?.output}
            evaluation={answer?.evaluation}
            getToken={() => post('/api/token', { evaluation: answer.evaluation })}
            onproviso-evidence={(e) => mark(output.current, e.detail)}
            onproviso-label={(e) => label((before) => [...before, e.detail])}
          />
          <p id="labels">{labels.length} labels</p>
        </aside>
      </div>
    </>
  );
}

createRoot(document.getElementById('app')).render(<StrictMode><App /></StrictMode>);
