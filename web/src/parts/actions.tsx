import { useState } from 'preact/hooks';

// Copy copies a text. instead says what a person can do if the browser does not let it.
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

// CopyLink copies the address of what is shown, filters included.
export const CopyLink = () => <Copy text={() => location.href} instead="Copy the address of the page instead">Copy link</Copy>;

// CopyCommand shows a command of a shell, and copies it.
export const CopyCommand = ({ command }: { command: string }) => <p class="remark"><code>{command}</code> <Copy text={() => command} instead="Select the command instead">Copy command</Copy></p>;

// quoted is a text as one word of a shell.
export const quoted = (text: string) => "'" + text.replace(/'/g, "'\\''") + "'";

// saveText gives a person a text as a file.
export function saveText(name: string, text: string, type = 'text/plain;charset=utf-8'): void {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// Download links to a file of the server.
export function Download({ href, name, children }: { href: string; name: string; children: string }) {
  return <a class="button" href={href} download={name}>{children}</a>;
}
