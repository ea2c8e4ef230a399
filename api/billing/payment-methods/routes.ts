import {
  PaymentMethod,
  PaymentMethodParams,
  PaymentMethodSearch,
  SavePaymentMethodBody,
  UpdatePaymentMethodBody,
} from '../../../schemas/payment-method.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { runCommand } from '../../conventions/command.ts';
import { route } from '../../conventions/route.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { getPaymentMethod, searchPaymentMethods } from '../records/payment-method-repository.ts';
import {
  deletePaymentMethod,
  describeMethod,
  savePaymentMethod,
  updatePaymentMethod,
} from './save-payment-method.ts';

const path = '/customers/{id}/payment-methods';

export const paymentMethodRoutes = [
  route({
    method: 'POST',
    path,
    summary: 'Save a payment method of a customer',
    permission: 'payment:write',
    ownsTransactions: true,
    params: IdParams,
    body: SavePaymentMethodBody,
    status: 201,
    answer: PaymentMethod,
    async handler(call) {
      const { deps, params, body } = call;
      return await runCommand(deps, 'payment method', async () => {
        const described = await describeMethod(deps, call, params.id, body);
        return (tx) => savePaymentMethod(tx, deps, call, params.id, described, body);
      });
    },
  }),
  route({
    method: 'GET',
    path,
    summary: 'List the payment methods of a customer',
    permission: 'payment:read',
    params: IdParams,
    query: PaymentMethodSearch.query,
    status: 200,
    answer: pageOf(PaymentMethod),
    async handler({ deps, scope, params, query }) {
      await getCustomer(deps.pool, scope, params.id);
      return await searchPaymentMethods(deps.pool, scope, params.id, query);
    },
  }),
  route({
    method: 'GET',
    path: `${path}/{payment_method_id}`,
    summary: 'Get a payment method of a customer',
    permission: 'payment:read',
    params: PaymentMethodParams,
    status: 200,
    answer: PaymentMethod,
    handler: ({ deps, scope, params }) =>
      getPaymentMethod(deps.pool, scope, params.id, params.payment_method_id),
  }),
  route({
    method: 'PUT',
    path: `${path}/{payment_method_id}`,
    summary: 'Make a payment method the default, or change its metadata',
    permission: 'payment:write',
    params: PaymentMethodParams,
    body: UpdatePaymentMethodBody,
    status: 200,
    answer: PaymentMethod,
    handler: (call) =>
      call.deps.pool.begin((tx) => {
        const { id, payment_method_id } = call.params;
        return updatePaymentMethod(tx, call.deps, call, id, payment_method_id, call.body);
      }),
  }),
  route({
    method: 'DELETE',
    path: `${path}/{payment_method_id}`,
    summary: 'Delete a payment method',
    permission: 'payment:write',
    params: PaymentMethodParams,
    status: 200,
    answer: Message,
    async handler(call) {
      const { id, payment_method_id } = call.params;
      await deletePaymentMethod(call.deps, call, id, payment_method_id);
      return { message: 'payment method deleted successfully' };
    },
  }),
];
