import type { ReactNode } from 'react';
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
  return (
    <AriaTabs selectedKey={shown} onSelectionChange={(key) => onChoose(String(key))}>
      <div className={styles.scroll}>
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
