import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button.tsx';
import styles from './code-block.module.css';

const CONFIRMED_MS = 2_000;

/** Text to be pasted elsewhere, with a button that copies it. */
export function CodeBlock({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className={styles.block}>
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <div className={styles.copy}>
        <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
      </div>
    </div>
  );
}

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), CONFIRMED_MS);
  };
  const Icon = isCopied ? Check : Copy;
  return (
    <Button
      small
      tone="quiet"
      aria-label={isCopied ? 'Copied' : label}
      icon={<Icon size={14} aria-hidden />}
      onPress={() => void copy()}
    />
  );
}

/** An id in full, in a font that tells 0 from O, with a button that copies it. */
export function Id({ of }: { readonly of: string }) {
  return (
    <span className={styles.id}>
      <code>{of}</code>
      <CopyButton text={of} label={`Copy ${of}`} />
    </span>
  );
}
