import type { Control, FieldPath, FieldValues } from 'react-hook-form';
import * as z from 'zod';
import { FieldRow, TextField } from '../../ui/fields.tsx';

const Level = z.object({ threshold: z.string().trim(), hysteresis: z.string().trim() });
type Level = z.output<typeof Level>;

/** Levels of an alert as a form holds them. A level without a threshold is not set. The server checks the order. */
export const Levels = z.object({ critical: Level, warning: Level, info: Level });

const NAMES = ['critical', 'warning', 'info'] as const;
type Of<Value> = Readonly<Record<(typeof NAMES)[number], Value>>;

interface StoredLevel {
  readonly threshold: string | number;
  /** Absent on alerts that have none. */
  readonly hysteresis?: number;
}

/** The stored levels as texts of the fields. */
export const levelsWritten = (stored: Of<StoredLevel | null> | null): Of<Level> => {
  const written = (level: StoredLevel | null | undefined): Level => ({
    threshold: String(level?.threshold ?? ''),
    hysteresis: level?.hysteresis ? String(level.hysteresis) : '',
  });
  return {
    critical: written(stored?.critical),
    warning: written(stored?.warning),
    info: written(stored?.info),
  };
};

/** The levels as the API takes them. */
export function levelsSent<Condition extends 'above' | 'below'>(
  levels: Of<Level>,
  condition: Condition,
) {
  const sent = ({ threshold, hysteresis }: Level) =>
    threshold === ''
      ? null
      : { threshold, condition, ...(hysteresis === '' ? {} : { hysteresis }) };
  return {
    critical: sent(levels.critical),
    warning: sent(levels.warning),
    info: sent(levels.info),
  };
}

const TITLES: Of<string> = { critical: 'Critical', warning: 'Warning', info: 'Notice' };

/** A threshold for each level, and how far the value must return before the level is left. */
export function LevelFields<Fields extends FieldValues>({
  control,
  path,
  unit,
  hasReturn = true,
}: {
  readonly control: Control<Fields>;
  /** Of the levels in the form and in the request. */
  readonly path: string;
  /** What the thresholds count: `credits`. */
  readonly unit: string;
  /** False: a level is left at its threshold. */
  readonly hasReturn?: boolean;
}) {
  return NAMES.map((level) => (
    <FieldRow key={level}>
      <TextField
        control={control}
        name={`${path}.${level}.threshold` as FieldPath<Fields>}
        label={`${TITLES[level]} at, in ${unit}`}
        kind="decimal"
      />
      {hasReturn ? (
        <TextField
          control={control}
          name={`${path}.${level}.hysteresis` as FieldPath<Fields>}
          label={`${TITLES[level]} ends after a return of`}
          kind="decimal"
        />
      ) : null}
    </FieldRow>
  ));
}
