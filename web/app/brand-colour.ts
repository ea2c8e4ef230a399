import { useEffect } from 'react';

const NAMES = ['--primary', '--primary-text', '--primary-hover', '--primary-line'] as const;

/** Shows main buttons in the colour of the tenant, `#rrggbb`, with the text that is easier to read on it. */
export function useBrandColour(colour: string | null): void {
  useEffect(() => {
    if (colour === null) return;
    const { style } = document.documentElement;
    const text = isLight(colour) ? '#000000' : '#ffffff';
    style.setProperty('--primary', colour);
    style.setProperty('--primary-text', text);
    // Away from the colour of the text, so that the contrast increases.
    const towards = text === '#000000' ? '#ffffff' : '#000000';
    style.setProperty('--primary-hover', `color-mix(in srgb, ${colour} 85%, ${towards})`);
    style.setProperty('--primary-line', 'var(--line-strong)');
    return () => NAMES.forEach((name) => style.removeProperty(name));
  }, [colour]);
}

/** Whether black has a higher contrast on the colour than white (WCAG 2.2, relative luminance). */
function isLight(colour: string): boolean {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return (luminance + 0.05) ** 2 > 1.05 * 0.05;
}
