import { useState } from 'preact/hooks';

const themes = ['auto', 'light', 'dark'];

// Some browsers refuse access to storage; the theme then lasts as long as the page.
function stored(): string {
  try { return localStorage.getItem('theme') ?? 'auto'; } catch { return 'auto'; }
}

function apply(theme: string): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function startTheme(): void {
  apply(stored());
  addEventListener('storage', () => apply(stored()));
}

// ThemeButton cycles through the themes: system, light, dark.
export function ThemeButton() {
  const [theme, set] = useState(() => (themes.includes(stored()) ? stored() : 'auto'));
  const next = () => {
    const to = themes[(themes.indexOf(theme) + 1) % themes.length]!;
    apply(to);
    try { localStorage.setItem('theme', to); } catch { /* it lasts as long as the page */ }
    set(to);
  };
  return <button type="button" class="theme" onClick={next}>Theme: {theme}</button>;
}
