import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { Seller } from '../app/seller.tsx';
import { leavePortal } from '../client/portal-session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Failure } from '../ui/query-state.tsx';
import { Toasts } from '../ui/toasts.tsx';
import { usePortal } from './portal.ts';
import { menuOf } from './routes.ts';
import styles from './portal-shell.module.css';

/** The frame of every page: the company that bills, the customer, the menu and the button to leave. */
export function PortalShell() {
  const { seller, customer, pages, is_test } = usePortal();
  const [failure, setFailure] = useState<Error | null>(null);
  return (
    <div className={styles.shell}>
      <a href="#content" className={styles.skip}>
        Skip to content
      </a>
      <Seller brand={seller}>
        {is_test ? <Badge tone="warning">Test environment</Badge> : null}
        <span className={styles.who}>
          <bdi className={styles.customer}>{customer.name}</bdi>
          <Button small tone="quiet" onPress={() => void leavePortal().catch(setFailure)}>
            Sign out
          </Button>
        </span>
      </Seller>
      {failure === null ? null : <Failure error={failure} />}
      <nav className={styles.nav} aria-label="Pages">
        <ul>
          {menuOf(pages).map(({ path, label }) => (
            <li key={path}>
              <Link
                to={path}
                activeOptions={{ exact: path === '/', includeSearch: false }}
                activeProps={{ 'aria-current': 'page' }}
              >
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      <Toasts />
    </div>
  );
}
