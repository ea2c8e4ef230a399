import { useState } from 'react';
import { answerOf, api } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Awaiting, Failure } from '../../ui/query-state.tsx';
import { Stack } from '../../ui/page.tsx';

/** Makes a link that opens the customer's portal, to be sent to the customer or opened here. */
export function PortalLink({ externalId }: { readonly externalId: string }) {
  const [isOpen, setOpen] = useState(false);
  const [link, setLink] = useState<string | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const make = async (): Promise<void> => {
    setOpen(true);
    setLink(null);
    setFailure(null);
    try {
      const path = { external_id: externalId };
      const { url } = await answerOf(
        api.GET('/customers/portal/{external_id}', { params: { path } }),
      );
      setLink(url);
    } catch (error) {
      setFailure(error as Error);
    }
  };
  return (
    <>
      <Button onPress={() => void make()}>Open portal</Button>
      <Dialog title="Customer portal" isOpen={isOpen} onClose={() => setOpen(false)}>
        {failure !== null ? <Failure error={failure} retry={make} /> : null}
        {link === null ? (
          failure === null ? (
            <Awaiting what="the link" />
          ) : null
        ) : (
          <Stack>
            <p>
              Anyone with this link can see the customer’s invoices and pay them. The link expires
              in one hour.
            </p>
            <CodeBlock label="Link" text={link} />
            <p>
              <a href={link} target="_blank" rel="noreferrer">
                Open the portal in a new tab
              </a>
            </p>
          </Stack>
        )}
      </Dialog>
    </>
  );
}
