import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router';
import { Menu as MenuIcon, X } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { allows, permissionsOf } from '../../domain/access/permissions.ts';
import { Button } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { Toasts } from '../ui/toasts.tsx';
import { ConfirmLogin } from './confirm-login.tsx';
import { AccountMenu } from './account-menu.tsx';
import { EnvironmentSwitch } from './environment-switch.tsx';
import { useSignedIn } from '../app/person.tsx';
import { ROUTES, SECTIONS } from './routes.ts';
import { Jump } from './jump.tsx';
import { ShortcutHelp } from './shortcut-help.tsx';
import { useShortcuts } from './shortcuts.ts';
import styles from './shell.module.css';

/** The frame of every page: the menu, the environment, the account, search and help. */
export function Shell() {
  const { environment } = useSignedIn();
  const navigate = useNavigate();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [isJumpOpen, setJumpOpen] = useState(false);
  useEffect(() => setMenuOpen(false), [path]);
  useShortcuts(
    useMemo(
      () => ({
        go: (to: string) => void navigate({ to }),
        search: () => {
          const field = document.querySelector<HTMLElement>('[data-shortcut="search"]');
          if (field === null) setJumpOpen(true);
          else field.focus();
        },
        help: () => setHelpOpen(true),
      }),
      [navigate],
    ),
  );
  const isLive = environment.type === 'production';
  return (
    <div className={styles.shell} data-environment={isLive ? 'live' : 'test'}>
      <a href="#content" className={styles.skip}>
        Skip to content
      </a>
      <header className={styles.topBar}>
        <Button
          tone="quiet"
          aria-label={isMenuOpen ? 'Close menu' : 'Open menu'}
          aria-expanded={isMenuOpen}
          icon={isMenuOpen ? <X size={18} aria-hidden /> : <MenuIcon size={18} aria-hidden />}
          onPress={() => setMenuOpen(!isMenuOpen)}
        />
        <span className={styles.topName}>{environment.name}</span>
        <span className={styles.mode}>{isLive ? 'Live' : 'Test'}</span>
      </header>
      <aside className={classNames(styles.side, isMenuOpen && styles.open)} aria-label="Console">
        <EnvironmentSwitch />
        <button type="button" className={styles.jump} onClick={() => setJumpOpen(true)}>
          Search or jump to … <kbd>/</kbd>
        </button>
        <Navigation />
        <AccountMenu showHelp={() => setHelpOpen(true)} />
      </aside>
      <main id="content" className={styles.main} tabIndex={-1}>
        <Outlet />
      </main>
      <ShortcutHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
      <Jump isOpen={isJumpOpen} onClose={() => setJumpOpen(false)} />
      <ConfirmLogin />
      <Toasts />
    </div>
  );
}

/** Room that stays between a marked entry and the edge of the menu, in pixels. */
const ENTRY_ROOM = 4;

function Navigation() {
  const { person } = useSignedIn();
  const held = permissionsOf(person.roles);
  const offered = ROUTES.filter(
    ({ permission }) => permission === undefined || allows(held, permission),
  );
  const nav = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // The menu may be longer than the window: the entry of the page is never out of sight.
  useEffect(() => {
    const entry = nav.current?.querySelector('[aria-current]');
    if (!entry) return;
    const menu = nav.current!.getBoundingClientRect();
    const { top, bottom } = entry.getBoundingClientRect();
    const below = bottom + ENTRY_ROOM - menu.bottom;
    if (below > 0) nav.current!.scrollTop += below;
    if (top < menu.top) nav.current!.scrollTop -= menu.top - top;
  }, [path]);
  const current = useRouterState({
    select: ({ matches }) => matches.at(-1)?.fullPath as string | undefined,
  });
  const entry = ROUTES.find((route) => route.path === current)?.entry;
  return (
    <nav ref={nav} className={styles.nav} aria-label="Pages">
      {SECTIONS.map((section) => {
        const entries = offered.filter(({ menu }) => menu?.section === section);
        if (entries.length === 0) return null;
        return (
          <div key={section} className={styles.section}>
            {section === 'Overview' ? null : <div className={styles.sectionName}>{section}</div>}
            <ul>
              {entries.map(({ path, menu }) => {
                const Icon = menu!.icon;
                return (
                  <li key={path}>
                    <Link
                      to={path}
                      activeOptions={{ exact: path === '/', includeSearch: false }}
                      activeProps={{ 'aria-current': 'page' }}
                      {...(path === entry ? { 'aria-current': 'page' } : {})}
                    >
                      <Icon size={15} aria-hidden />
                      {menu!.label}
                    </Link>
                  </li>
                );
              })}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}
