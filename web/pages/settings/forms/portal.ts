import { CustomerPortalConfig } from '../../../../schemas/settings/portal.ts';
import { PORTAL_RANGES } from '../../../../schemas/words.ts';
import { formatWord } from '../../../ui/text.ts';
import { formOf, type Field } from './fields.ts';

const colour = (label: string): Field => ({
  kind: 'text',
  label,
  isUnset: true,
  hint: 'For example #1d4ed8.',
});
const RANGES = PORTAL_RANGES.map((word) => [word, formatWord(word)] as const);
const ORDER: Field = { kind: 'whole', label: 'Position', hint: 'Smaller numbers come first.' };

/** What customers see of themselves. */
export const PORTAL = {
  customer_portal_config: formOf(
    'Customer portal',
    'The colors of the portal, which pages it has, and the sites that may show it in a frame.',
    CustomerPortalConfig,
    {
      version: { kind: 'kept' },
      theme: {
        kind: 'group',
        label: 'Colors',
        fields: {
          primary_color: colour('Buttons and lines'),
          secondary_color: { kind: 'kept' },
          tertiary_color: { kind: 'kept' },
        },
      },
      embed_origins: {
        kind: 'lines',
        of: 'text',
        label: 'Sites that may embed the portal',
        hint: 'One on each line, with https, for example https://app.example.com.',
      },
      sections: {
        kind: 'rows',
        label: 'Pages of the portal',
        noun: 'page',
        title: 'label',
        isFixed: true,
        fields: {
          id: { kind: 'kept' },
          enabled: { kind: 'switch', label: 'Shown' },
          label: { kind: 'text', label: 'Name' },
          order: ORDER,
          tabs: {
            kind: 'rows',
            label: 'Parts of the page',
            noun: 'part',
            title: 'type',
            isFixed: true,
            shownFor: ['id', 'usage'],
            fields: {
              id: { kind: 'kept' },
              type: { kind: 'kept' },
              enabled: { kind: 'switch', label: 'Shown' },
              order: ORDER,
              usage_graph: {
                kind: 'group',
                label: 'Chart',
                only: ['type', 'usage_graph'],
                fields: {
                  date_presets: {
                    kind: 'choices',
                    label: 'Available ranges',
                    hint: 'If none is chosen, the ranges of the default setting are offered.',
                    choices: RANGES,
                  },
                  default_preset: {
                    kind: 'choice',
                    label: 'Default range',
                    choices: [['', 'The first'], ...RANGES],
                  },
                  allow_custom_date_range: { kind: 'switch', label: 'Allow custom dates' },
                  feature_filter_mode: {
                    kind: 'choice',
                    label: 'Usage of',
                    choices: [
                      ['', 'Not set: all features'],
                      ['all', 'All features'],
                      ['inc', 'Included features'],
                    ],
                  },
                },
              },
              metric_cards: {
                kind: 'group',
                label: 'Figures',
                only: ['type', 'metric_cards'],
                fields: {
                  show_revenue_metric: { kind: 'switch', label: 'Show spend' },
                  show_cost_metrics: { kind: 'switch', label: 'Show costs' },
                  show_custom_metrics: { kind: 'switch', label: 'Show usage of each meter' },
                },
              },
            },
          },
        },
      },
    },
  ),
};
