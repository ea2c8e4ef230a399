import { Allowed, useSignedIn } from '../../app/person.tsx';
import { Page, Stack } from '../../ui/page.tsx';
import { GeneratedData } from './generated-data.tsx';
import { Health } from './health.tsx';
import { RevenueByMonth } from './revenue-by-month.tsx';
import { Revenue } from './revenue.tsx';
import { Usage } from './usage.tsx';
import { WalletsAtRisk } from './wallets-at-risk.tsx';

/** The state of the environment on one page. Each number links to the list that it is counted from. */
export function View() {
  const { person, environment } = useSignedIn();
  return (
    <Page title="Home" description={`${person.tenant.name}, ${environment.name}`}>
      <Stack>
        <GeneratedData />
        <Allowed to="invoice:read">
          <Revenue />
        </Allowed>
        <Allowed to="event:read">
          <Usage />
        </Allowed>
        <Allowed to="invoice:read">
          <RevenueByMonth />
        </Allowed>
        <Allowed to="wallet:read">
          <WalletsAtRisk />
        </Allowed>
        <Allowed to="doctor:read">
          <Health />
        </Allowed>
      </Stack>
    </Page>
  );
}
