import type { ReactNode } from 'react';
import { Badge } from './badge.tsx';
import { Button } from './button.tsx';
import { CodeBlock } from './code-block.tsx';

/** A secret that the server shows once, after a dialog has made it. `children`: what it is for; optional. */
export function ShownOnce({
  label,
  text,
  children,
  onDone,
}: {
  readonly label: string;
  readonly text: string;
  readonly children?: ReactNode;
  readonly onDone: () => void;
}) {
  return (
    <>
      <p>
        <Badge tone="warning">Copy it now</Badge> {children} It is not shown again.
      </p>
      <CodeBlock label={label} text={text} />
      <Button tone="primary" autoFocus onPress={onDone}>
        Done
      </Button>
    </>
  );
}
