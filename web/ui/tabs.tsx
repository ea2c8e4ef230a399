import { useEffect, useRef, type ReactNode, type RefObject } from 'react';
import { Tab, TabList, TabPanel, Tabs as AriaTabs } from 'react-aria-components/Tabs';
import styles from './tabs.module.css';

export interface TabEntry {
  readonly id: string;
  readonly label: string;
  readonly content: () => ReactNode;
}

/** Parts of a page of which one is shown. Keep the chosen one in the address (`useUrlState`). */
export function Tabs({
  label,
  tabs,
  chosen,
  onChoose,
}: {
  readonly label: string;
  readonly tabs: readonly TabEntry[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
}) {
  // The address may name a part that the page does not have: an old link.
  const shown = tabs.some(({ id }) => id === chosen) ? chosen : tabs[0]!.id;
  const frame = useRef<HTMLDivElement>(null);
  return (
    <AriaTabs selectedKey={shown} onSelectionChange={(key) => onChoose(String(key))}>
      <div ref={frame} className={styles.scroll}>
        <TabList aria-label={label} className={styles.list!}>
          {tabs.map(({ id, label: text }) => (
            <Tab key={id} id={id} className={styles.tab!}>
              <TabText text={text} isShown={id === shown} frame={frame} />
            </Tab>
          ))}
        </TabList>
      </div>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id} className={styles.panel!}>
          {content()}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}

/**
 * Brings the shown tab into the row: on a phone it may lie outside. An effect of `Tabs` itself comes too early, because
 * the library draws the tabs only after the first effects.
 */
function TabText({
  text,
  isShown,
  frame,
}: {
  readonly text: string;
  readonly isShown: boolean;
  readonly frame: RefObject<HTMLDivElement | null>;
}) {
  const own = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const row = frame.current;
    const tab = own.current?.closest('[role="tab"]');
    if (!isShown || row === null || tab == null) return;
    const [outer, inner] = [row.getBoundingClientRect(), tab.getBoundingClientRect()];
    if (inner.right > outer.right) row.scrollLeft += inner.right - outer.right;
    if (inner.left < outer.left) row.scrollLeft -= outer.left - inner.left;
  }, [isShown, frame]);
  return <span ref={own}>{text}</span>;
}
