import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Failure } from '../../ui/query-state.tsx';
import { formatDecimal } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';
import { Id } from '../../ui/code-block.tsx';

type Part = ApiRecord<'AuditChainPart'>;

/** Computes the chain of hashes again, part by part, and says whether it holds. */
export function VerifyChain() {
  const [isOpen, setOpen] = useState(false);
  const [part, setPart] = useState<Part | null>(null);
  const stop = useRef<AbortController>(null);
  const verify = useMutation({
    mutationFn: async () => {
      setPart(null);
      const { signal } = (stop.current = new AbortController());
      const partAfter = (link: number): Promise<Part> =>
        answerOf(
          api.GET('/audit-logs/chain', { params: { query: { after: String(link) } }, signal }),
        );
      let found = await partAfter(0);
      setPart(found);
      while (!hasEnded(found)) {
        found = await partAfter(found.verified_to);
        setPart(found);
      }
    },
  });
  const close = (): void => {
    stop.current?.abort();
    setOpen(false);
  };
  return (
    <>
      <Button
        onPress={() => {
          setOpen(true);
          verify.mutate();
        }}
      >
        Verify the chain
      </Button>
      <Dialog title="Chain of the audit log" isOpen={isOpen} onClose={close}>
        <p>
          Each row is chained to the one before by a hash. Every hash is computed again and
          compared: a row that was changed, removed or added by hand breaks the chain.
        </p>
        {part !== null && hasEnded(part) ? (
          <Result of={part} />
        ) : verify.isError ? (
          <Failure error={verify.error} retry={() => verify.mutate()} />
        ) : (
          <Progress
            label="Rows verified"
            done={part?.verified_to ?? 0}
            of={part?.length ?? 0}
            cancel={
              <Button small onPress={close}>
                Cancel
              </Button>
            }
          />
        )}
      </Dialog>
    </>
  );
}

const hasEnded = ({ broken, verified_to, length }: Part): boolean =>
  broken !== null || verified_to >= length;

function Result({ of }: { readonly of: Part }) {
  const { broken, verified_to, verified_until, head } = of;
  return (
    <>
      <p role="status">
        {broken === null ? (
          <>
            <Badge tone="positive">The chain holds</Badge> No row was changed, removed or added by
            hand.
          </>
        ) : (
          <>
            <Badge tone="negative">The chain is broken</Badge>{' '}
            {broken.number === null ? '' : `At link ${formatDecimal(String(broken.number))}: `}
            {broken.problem}.
          </>
        )}
      </p>
      <Facts
        of={[
          ['Rows that hold', formatDecimal(String(verified_to))],
          ['Until', <Time key="until" at={verified_until} seconds />],
          ...(broken?.audit_log_id == null
            ? []
            : [['Broken row', <Id key="row" of={broken.audit_log_id} />] as const]),
          ['Last hash', <Id key="head" of={head} />],
        ]}
      />
      <p>
        Keep the last hash elsewhere: if the chain of these rows ends in another one later, it was
        made anew as a whole.
      </p>
    </>
  );
}
