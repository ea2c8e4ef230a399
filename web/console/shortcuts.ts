import { useEffect } from 'react';
import { ROUTES } from './routes.ts';

/** Keys of the console, as its help shows them. */
export const SHORTCUTS: readonly (readonly [string, string])[] = [
  ['/', 'Search'],
  ['?', 'Keyboard shortcuts'],
  ...ROUTES.flatMap(({ menu }) =>
    menu?.key === undefined ? [] : [[`g ${menu.key}`, `Go to ${menu.label}`] as const],
  ),
];

/** The second key of `g i` is awaited this long. */
const CHORD_MS = 1_500;

/** Listens for the keys of the console. Nothing happens while a field has the focus. */
export function useShortcuts(actions: {
  readonly go: (path: string) => void;
  readonly search: () => void;
  readonly help: () => void;
}): void {
  useEffect(() => {
    let lastG = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const isChord = event.timeStamp - lastG < CHORD_MS;
      lastG = -Infinity;
      if (isChord) {
        const route = ROUTES.find(({ menu }) => menu?.key === event.key);
        if (route !== undefined) actions.go(route.path);
      } else if (event.key === 'g') lastG = event.timeStamp;
      else if (event.key === '?') actions.help();
      else if (event.key === '/') {
        event.preventDefault();
        actions.search();
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [actions]);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));
