import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { allows, permissionsOf } from '../../domain/access/permissions.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useSignedIn } from '../app/person.tsx';
import { ROUTES } from './routes.ts';
import styles from './jump.module.css';

interface Target {
  readonly label: string;
  readonly to: string;
}

/** Opens a page by its name, or a record by its id. */
export function Jump({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const { person } = useSignedIn();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const held = permissionsOf(person.roles);
  const pages = ROUTES.flatMap(({ path, permission, menu }) =>
    menu === undefined || (permission !== undefined && !allows(held, permission))
      ? []
      : [{ label: menu.label, to: path }],
  );
  const wanted = text.trim().toLowerCase();
  const found: Target[] = [
    ...recordOf(text.trim()),
    ...pages.filter(({ label }) => label.toLowerCase().includes(wanted)),
  ];
  const open = ({ to }: Target): void => {
    setText('');
    onClose();
    void navigate({ to });
  };
  return (
    <Dialog title="Search or jump to" isOpen={isOpen} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (found[0] !== undefined) open(found[0]);
        }}
      >
        <input
          className={styles.input}
          aria-label="Name of a page, or id of a record"
          placeholder="Name of a page, or id of a record"
          autoFocus
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </form>
      <ul className={styles.found}>
        {found.map((target) => (
          <li key={target.to}>
            <button type="button" onClick={() => open(target)}>
              {target.label}
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p>No page or record has this name.</p> : null}
    </Dialog>
  );
}

/** Pages of single records by the prefix of their ids. */
const RECORDS: Readonly<Record<string, string>> = {
  cust: '/customers',
  subs: '/subscriptions',
  inv: '/invoices',
  wallet: '/wallets',
  plan: '/plans',
  addon: '/addons',
  meter: '/meters',
  feat: '/features',
  group: '/price-groups',
  coupon: '/coupons',
  taxrate: '/tax-rates',
  cost: '/cost-sheets',
};

function recordOf(text: string): Target[] {
  const path = RECORDS[text.split('_')[0] ?? ''];
  const hasPage = ROUTES.some((route) => route.path === `${path}/$id`);
  return hasPage && /^[a-z]+_[0-9A-Z]{26}$/.test(text)
    ? [{ label: `Open ${text}`, to: `${path}/${text}` }]
    : [];
}
