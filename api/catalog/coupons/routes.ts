import { isoTime } from '../../../platform/clock.ts';
import {
  Coupon,
  CouponAssociation,
  CouponAssociationSearch,
  CouponCodeParams,
  CouponSearch,
  CreateCouponBody,
  UpdateCouponBody,
} from '../../../schemas/coupon.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { changed, sent } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { createCoupon } from './create-coupon.ts';
import {
  getCoupon,
  getCouponAssociation,
  getCouponByCode,
  searchCouponAssociations,
  searchCoupons,
  updateCouponRow,
} from './repository.ts';

export const couponRoutes = [
  route({
    method: 'POST',
    path: '/coupons',
    summary: 'Create a coupon',
    permission: 'coupon:write',
    body: CreateCouponBody,
    status: 201,
    answer: Coupon,
    handler: (call) => call.deps.pool.begin((tx) => createCoupon(tx, call.deps, call, call.body)),
  }),
  route({
    method: 'GET',
    path: '/coupons',
    summary: 'List coupons',
    permission: 'coupon:read',
    query: CouponSearch.query,
    status: 200,
    answer: pageOf(Coupon),
    handler: ({ deps, scope, query }) => searchCoupons(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/coupons/search',
    summary: 'Search coupons',
    permission: 'coupon:read',
    body: CouponSearch.body,
    status: 200,
    answer: pageOf(Coupon),
    handler: ({ deps, scope, body }) => searchCoupons(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/coupons/associations',
    summary: 'List coupon associations',
    permission: 'coupon:read',
    query: CouponAssociationSearch.query,
    status: 200,
    answer: pageOf(CouponAssociation),
    handler: ({ deps, scope, query }) =>
      searchCouponAssociations(deps.pool, scope, query, isoTime(deps.clock.now())),
  }),
  route({
    method: 'POST',
    path: '/coupons/associations/search',
    summary: 'Search coupon associations',
    permission: 'coupon:read',
    body: CouponAssociationSearch.body,
    status: 200,
    answer: pageOf(CouponAssociation),
    handler: ({ deps, scope, body }) =>
      searchCouponAssociations(deps.pool, scope, body, isoTime(deps.clock.now())),
  }),
  route({
    method: 'GET',
    path: '/coupons/associations/{id}',
    summary: 'Get a coupon association',
    permission: 'coupon:read',
    params: IdParams,
    status: 200,
    answer: CouponAssociation,
    handler: ({ deps, scope, params }) => getCouponAssociation(deps.pool, scope, params.id),
  }),
  route({
    method: 'GET',
    path: '/coupons/code/{code}',
    summary: 'Get a published coupon by its code, in any case',
    permission: 'coupon:read',
    params: CouponCodeParams,
    status: 200,
    answer: Coupon,
    handler: ({ deps, scope, params }) => getCouponByCode(deps.pool, scope, params.code),
  }),
  route({
    method: 'GET',
    path: '/coupons/{id}',
    summary: 'Get a coupon',
    permission: 'coupon:read',
    params: IdParams,
    status: 200,
    answer: Coupon,
    handler: ({ deps, scope, params }) => getCoupon(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/coupons/{id}',
    summary: 'Rename a coupon',
    permission: 'coupon:write',
    params: IdParams,
    body: UpdateCouponBody,
    status: 200,
    answer: Coupon,
    handler: (call) =>
      call.deps.pool.begin((tx) =>
        updateCouponRow(tx, call.scope, call.params.id, {
          ...sent(call.body),
          ...changed(call.deps, call),
        }),
      ),
  }),
  route({
    method: 'DELETE',
    path: '/coupons/{id}',
    summary: 'Archive a coupon; existing associations stay in force',
    permission: 'coupon:write',
    params: IdParams,
    status: 200,
    answer: Message,
    async handler(call) {
      await call.deps.pool.begin((tx) =>
        updateCouponRow(tx, call.scope, call.params.id, {
          status: 'archived',
          ...changed(call.deps, call),
        }),
      );
      return { message: 'Coupon deleted successfully' };
    },
  }),
];
