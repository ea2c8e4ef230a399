import { Link } from '@tanstack/react-router';
import { createContext, useContext, useEffect, type ReactNode } from 'react';
import styles from './page.module.css';

export interface Crumb {
  readonly label: string;
  readonly to: string;
}

/** The end of every document title. */
export const SiteName = createContext('Meterline');

/** The frame of every page: breadcrumbs, title, actions and content. */
export function Page({
  title,
  documentTitle = typeof title === 'string' ? title : undefined,
  crumbs = [],
  description,
  actions,
  children,
}: {
  readonly title: ReactNode;
  /** For a title that is not plain text. */
  readonly documentTitle?: string | undefined;
  readonly crumbs?: readonly Crumb[];
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  const site = useContext(SiteName);
  useEffect(() => {
    if (documentTitle !== undefined) document.title = `${documentTitle} · ${site}`;
  }, [documentTitle, site]);
  return (
    <>
      <header className={styles.header}>
        <div className={styles.heading}>
          {crumbs.length === 0 ? null : (
            <nav aria-label="Breadcrumb">
              <ol className={styles.crumbs}>
                {crumbs.map(({ label, to }) => (
                  <li key={to}>
                    <Link to={to}>{label}</Link>
                  </li>
                ))}
              </ol>
            </nav>
          )}
          <h1>{title}</h1>
          {description === undefined ? null : <p className={styles.description}>{description}</p>}
        </div>
        {actions === undefined ? null : <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </>
  );
}

/** A titled part of a page. */
export function Section({
  title,
  actions,
  isHidden = false,
  children,
}: {
  readonly title: string;
  readonly actions?: ReactNode;
  /** True while the section above is loading, because its content would move this one. */
  readonly isHidden?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <section className={styles.section} hidden={isHidden}>
      <div className={styles.sectionHeader}>
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** A bordered surface. */
export function Card({ children }: { readonly children: ReactNode }) {
  return <div className={styles.card}>{children}</div>;
}

/** Parts of a page side by side; below each other where there is no room. */
export function Columns({ children }: { readonly children: ReactNode }) {
  return <div className={styles.columns}>{children}</div>;
}

/** Parts below each other, with even space. */
export function Stack({ children }: { readonly children: ReactNode }) {
  return <div className={styles.stack}>{children}</div>;
}

/** Small things in a row: buttons, badges. */
export function Row({ children }: { readonly children: ReactNode }) {
  return <div className={styles.row}>{children}</div>;
}
