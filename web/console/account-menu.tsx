import { CircleUser } from 'lucide-react';
import { useState } from 'react';
import { Menu } from '../ui/menu.tsx';
import { chooseTheme, chosenTheme, THEMES, type Theme } from '../ui/theme.ts';
import { formatWord } from '../ui/text.ts';
import { useSignedIn } from '../app/person.tsx';
import { signOut } from '../client/session.ts';
import { SessionsDialog } from './sessions-dialog.tsx';
import styles from './account-menu.module.css';

/** The person: theme, sessions, help, sign out. */
export function AccountMenu({ showHelp }: { readonly showHelp: () => void }) {
  const { person } = useSignedIn();
  const [theme, setTheme] = useState<Theme>(chosenTheme());
  const [isOpen, setOpen] = useState(false);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
  const name = person.email ?? person.name ?? 'Account';
  return (
    <>
      <Menu
        label={`Account of ${name}`}
        className={styles.button!}
        button={
          <>
            <CircleUser size={16} aria-hidden />
            <span className={styles.name}>{name}</span>
          </>
        }
        actions={[
          {
            id: 'theme',
            label: `Theme: ${formatWord(theme)}. Change to ${next}`,
            onChoose: () => {
              chooseTheme(next);
              setTheme(next);
            },
          },
          { id: 'help', label: 'Keyboard shortcuts', onChoose: showHelp },
          { id: 'docs', label: 'API documentation', onChoose: () => location.assign('/docs') },
          { id: 'sessions', label: 'Sessions', onChoose: () => setOpen(true) },
          { id: 'out', label: 'Sign out', onChoose: () => void signOut() },
        ]}
      />
      <SessionsDialog isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
  );
}
