import { useEffect, useState, type ComponentType } from 'react';
import { CompanySignIn, SingleSignOn } from './company-sign-in.tsx';
import { formAt, type FormPath } from './paths.ts';
import { ForgotPassword, ResetPassword } from './passwords.tsx';
import { SignIn } from './sign-in.tsx';
import { SignUp, Verify } from './sign-up.tsx';
import styles from './signed-out.module.css';

/** A form with an address of its own: its title, and links to related forms. */
interface Form {
  readonly title: string;
  readonly View: ComponentType<{ readonly go: (path: FormPath) => void }>;
  readonly others: readonly (readonly [path: FormPath, text: string])[];
}

const FORMS: Readonly<Record<FormPath, Form>> = {
  '/': {
    title: 'Sign in',
    View: SignIn,
    others: [
      ['/sign-up', 'Create a company'],
      ['/forgot-password', 'Forgot your password?'],
      ['/company-sign-in', 'Sign in through your company'],
    ],
  },
  '/sign-up': { title: 'Create your company', View: SignUp, others: [['/', 'Sign in']] },
  '/verify': { title: 'Confirm your address', View: Verify, others: [['/sign-up', 'Sign up again']] }, // prettier-ignore
  '/forgot-password': { title: 'Forgot your password?', View: ForgotPassword, others: [['/', 'Sign in']] }, // prettier-ignore
  '/reset-password': {
    title: 'Set a new password',
    View: ResetPassword,
    others: [
      ['/', 'Sign in'],
      ['/forgot-password', 'Ask for a new link'],
    ],
  },
  '/company-sign-in': {
    title: 'Sign in through your company',
    View: CompanySignIn,
    others: [['/', 'Sign in with a password']],
  },
  '/sso': { title: 'Signing in', View: SingleSignOn, others: [['/', 'Sign in']] },
};

/** The forms for people who are not signed in: ordinary ones that password managers fill. */
export function SignedOut({
  hasEnded,
  onMove,
}: {
  readonly hasEnded: boolean;
  /** The address has changed: a session may have been opened in the meantime. */
  readonly onMove: () => void;
}) {
  const [path, setPath] = useState<FormPath>(() => formAt(location.pathname));
  const { title, View, others } = FORMS[path];
  useEffect(() => {
    document.title = `${title} · Meterline`;
  }, [title]);
  const go = (to: FormPath): void => {
    history.replaceState(null, '', to);
    setPath(to);
    onMove();
  };
  return (
    <main className={styles.page}>
      <div className={styles.box}>
        <p className={styles.brand}>
          <span className={styles.mark} aria-hidden="true" />
          Meterline
        </p>
        <h1>{title}</h1>
        {hasEnded && path === '/' ? (
          <p className={styles.note}>Your session has ended. Sign in again.</p>
        ) : null}
        <View go={go} />
        <ul className={styles.others}>
          {others.map(([to, text]) => (
            <li key={to}>
              <button type="button" onClick={() => go(to)}>
                {text}
              </button>
            </li>
          ))}
        </ul>
      </div>
    </main>
  );
}
