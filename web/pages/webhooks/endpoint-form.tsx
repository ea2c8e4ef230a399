import {
  CreateWebhookEndpointBody,
  type CreateWebhookEndpointBody as Body,
} from '../../../schemas/webhooks/endpoint.ts';
import { WEBHOOK_EVENT_TYPES } from '../../../schemas/webhooks/event-types.ts';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { GroupedChoicesField } from '../../ui/grouped-choices-field.tsx';
import { formatWord } from '../../ui/text.ts';

const CHOICES = WEBHOOK_EVENT_TYPES.map((type) => [type, type] as const);
/** The record that a type is about: `Credit note` of `credit_note.created`. */
const recordOf = (type: string): string => formatWord(type.split('.')[0]!);

export interface EndpointValues {
  readonly url: string;
  readonly description: string | null;
  /** Empty: every event. */
  readonly event_types: NonNullable<Body['event_types']>;
}

/** The address of a receiver, and what it is told. */
export function EndpointForm({
  submit,
  values,
  onSubmit,
}: {
  readonly submit: string;
  readonly values: EndpointValues;
  readonly onSubmit: (values: EndpointValues) => Promise<void>;
}) {
  const form = useApiForm(CreateWebhookEndpointBody, {
    ...values,
    description: values.description ?? '',
    event_types: [...values.event_types],
  });
  return (
    <Form
      form={form}
      submit={submit}
      isWide
      onSubmit={({ url, description, event_types }) =>
        onSubmit({ url, description: description || null, event_types: event_types ?? [] })
      }
    >
      <TextField
        control={form.control}
        name="url"
        label="URL"
        kind="url"
        isRequired
        autoFocus
        placeholder="https://example.com/webhooks"
      />
      <TextField control={form.control} name="description" label="Description" />
      <GroupedChoicesField
        control={form.control}
        name="event_types"
        label="Events"
        noun="event types"
        groupOf={recordOf}
        hint="None chosen: the endpoint gets all events, also of types that are added later."
        choices={CHOICES}
      />
    </Form>
  );
}
