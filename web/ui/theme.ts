/** `system` follows the operating system. The choice is kept in this browser. */
export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'meterline-theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

export const chosenTheme = (): Theme => THEMES.find((theme) => theme === kept()) ?? 'system';

/** A browser may refuse its storage to a page in a frame of another site. */
function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  applyTheme();
}

/** Marks the document with the theme to show. Called before the first render, and when the system changes. */
export function applyTheme(): void {
  const theme = chosenTheme();
  const isDark = theme === 'dark' || (theme === 'system' && prefersDark.matches);
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
  dispatchEvent(new Event('themechange'));
}

prefersDark.addEventListener('change', applyTheme);
