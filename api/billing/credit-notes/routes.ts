import type { Db, Scope } from '../../../postgres/client.ts';
import {
  CreateCreditNoteBody,
  CreditNote,
  CreditNoteSearch,
} from '../../../schemas/credit-note.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { runCommand } from '../../conventions/command.ts';
import { route } from '../../conventions/route.ts';
import {
  getCreditNote,
  searchCreditNotes,
  type CreditNoteFilter,
} from '../records/credit-note-repository.ts';
import { dispatchRefunds } from '../refunds/settle-refund.ts';
import { creditNoteAnswers } from './answers.ts';
import { finalizeCreditNote, voidCreditNote } from './change-credit-note.ts';
import { createCreditNote } from './create-credit-note.ts';

async function listCreditNotes(db: Db, scope: Scope, filter: CreditNoteFilter) {
  const page = await searchCreditNotes(db, scope, filter);
  const { expand } = filter.search;
  const embed = {
    invoice: expand.has('invoice'),
    customer: expand.has('customer'),
    subscription: expand.has('subscription'),
  };
  return { ...page, items: await creditNoteAnswers(db, scope, page.items, embed) };
}

export const creditNoteRoutes = [
  route({
    method: 'POST',
    path: '/creditnotes',
    summary: 'Create a credit note',
    permission: 'creditnote:write',
    recentLogin: true,
    ownsTransactions: true,
    body: CreateCreditNoteBody,
    status: 201,
    answer: CreditNote,
    async handler(call) {
      const { note, refunds, isRepeat } = await runCommand(call.deps, 'credit note', () =>
        Promise.resolve((tx) => createCreditNote(tx, call.deps, call, call.body)),
      );
      await dispatchRefunds(call.deps, call, refunds);
      if (isRepeat) call.setHeader('idempotent-replayed', 'true');
      const [answer] = await creditNoteAnswers(call.deps.pool, call.scope, [note], {});
      return answer!;
    },
  }),
  route({
    method: 'GET',
    path: '/creditnotes',
    summary: 'List credit notes',
    permission: 'creditnote:read',
    query: CreditNoteSearch.query,
    status: 200,
    answer: pageOf(CreditNote),
    handler: ({ deps, scope, query }) => listCreditNotes(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/creditnotes/search',
    summary: 'Search credit notes',
    permission: 'creditnote:read',
    body: CreditNoteSearch.body,
    status: 200,
    answer: pageOf(CreditNote),
    handler: ({ deps, scope, body }) => listCreditNotes(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/creditnotes/{id}',
    summary: 'Get a credit note with its invoice and customer',
    permission: 'creditnote:read',
    params: IdParams,
    status: 200,
    answer: CreditNote,
    async handler({ deps, scope, params }) {
      const note = await getCreditNote(deps.pool, scope, params.id);
      const embed = { invoice: true, customer: true, subscription: true };
      const [answer] = await creditNoteAnswers(deps.pool, scope, [note], embed);
      return answer!;
    },
  }),
  route({
    method: 'POST',
    path: '/creditnotes/{id}/finalize',
    summary: 'Finalize a draft credit note',
    permission: 'creditnote:write',
    recentLogin: true,
    ownsTransactions: true,
    params: IdParams,
    status: 200,
    answer: CreditNote.extend(Message.shape),
    async handler(call) {
      const { note, refunds } = await runCommand(call.deps, 'credit note', () =>
        Promise.resolve((tx) => finalizeCreditNote(tx, call.deps, call, call.params.id)),
      );
      await dispatchRefunds(call.deps, call, refunds);
      const [answer] = await creditNoteAnswers(call.deps.pool, call.scope, [note], {});
      return { ...answer!, message: 'credit note finalized successfully' };
    },
  }),
  route({
    method: 'POST',
    path: '/creditnotes/{id}/void',
    summary: 'Void a credit note',
    permission: 'creditnote:write',
    params: IdParams,
    status: 200,
    answer: CreditNote.extend(Message.shape),
    async handler(call) {
      const note = await call.deps.pool.begin((tx) =>
        voidCreditNote(tx, call.deps, call, call.params.id),
      );
      const [answer] = await creditNoteAnswers(call.deps.pool, call.scope, [note], {});
      return { ...answer!, message: 'credit note voided successfully' };
    },
  }),
];
