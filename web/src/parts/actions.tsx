import { useState } from 'preact/hooks';

// Copy copies a text. instead says what a person can do if the browser refuses.
function Copy({ text, instead, children }: { text: () => string; instead: string; children: string }) {
  const [said, say] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      say('Copied');
    } catch {
      say('Not copied. ' + instead);
    }
    setTimeout(() => say(''), 3000);
  };
  return <><button type="button" onClick={copy}>{children}</button><span class="said" role="status">{said}</span></>;
}

// CopyLink copies the address of the view, including filters.
export const CopyLink = () => <Copy text={() => location.href} instead="Copy the address of the page instead">Copy link</Copy>;

// CopyCommand shows a shell command and copies it.
export const CopyCommand = ({ command }: { command: string }) => <p class="remark"><code>{command}</code> <Copy text={() => command} instead="Select the command instead">Copy command</Copy></p>;

// quoted quotes a text as one shell word.
export const quoted = (text: string) => "'" + text.replace(/'/g, "'\\''") + "'";

// saveText downloads a text as a file.
export function saveText(name: string, text: string, type = 'text/plain;charset=utf-8'): void {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Download links to a file on the server.
export function Download({ href, name, children }: { href: string; name: string; children: string }) {
  return <a class="button" href={href} download={name}>{children}</a>;
}
