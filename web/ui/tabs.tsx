import { useEffect, useRef, type ReactNode } from 'react';
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
  // On a phone the chosen tab may lie outside of the row.
  useEffect(() => {
    const row = frame.current;
    const tab = row?.querySelector<HTMLElement>('[aria-selected="true"]');
    if (row == null || tab == null) return;
    const [outer, inner] = [row.getBoundingClientRect(), tab.getBoundingClientRect()];
    if (inner.right > outer.right) row.scrollLeft += inner.right - outer.right;
    if (inner.left < outer.left) row.scrollLeft -= outer.left - inner.left;
  }, [shown]);
  return (
    <AriaTabs selectedKey={shown} onSelectionChange={(key) => onChoose(String(key))}>
      <div ref={frame} className={styles.scroll}>
        <TabList aria-label={label} className={styles.list!}>
          {tabs.map(({ id, label: text }) => (
            <Tab key={id} id={id} className={styles.tab!}>
              {text}
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
