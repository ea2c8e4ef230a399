import { useQuery } from '@tanstack/react-query';
import { HEALTH_TONES, HEALTH_WORDS, healthInWords } from '../../app/health-words.ts';
import { answerOf, api } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Figure, Figures } from '../../ui/figure.tsx';
import { Section } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { capitalized, sentence } from '../../ui/text.ts';
import { useAfterRevenue } from './revenue.tsx';

/** How often the checks are made again while the page is open. */
const CHECK_MS = 30_000;

/** The check of events that are accepted and not counted yet. It is always shown. */
const LAG = 'log lag';

/** Whether the pipeline works, how far it is behind, and each check that failed. */
export function Health() {
  const query = useQuery({
    queryKey: ['doctor'],
    enabled: useAfterRevenue(),
    queryFn: ({ signal }) => answerOf(api.POST('/operations/doctor', { signal })),
    refetchInterval: CHECK_MS,
  });
  return (
    <Section title="System health">
      <Loaded query={query} what="the checks">
        {({ state, checks }) => {
          const failed = checks.filter((check) => check.state !== 'ok');
          const shown = checks.filter((check) => check.state !== 'ok' || check.name === LAG);
          return (
            <Figures>
              <Figure
                label="Status"
                value={<Badge tone={HEALTH_TONES[state]}>{HEALTH_WORDS[state]}</Badge>}
                note={`${checks.length - failed.length} of ${checks.length} checks passed`}
                to="/doctor"
              />
              {shown.map((check) => (
                <Figure
                  key={check.name}
                  label={capitalized(healthInWords(check.name))}
                  value={
                    <Badge tone={HEALTH_TONES[check.state]}>{HEALTH_WORDS[check.state]}</Badge>
                  }
                  note={sentence(check.found)}
                  to="/doctor"
                />
              ))}
            </Figures>
          );
        }}
      </Loaded>
    </Section>
  );
}
