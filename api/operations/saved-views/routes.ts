import { IdParams } from '../../../schemas/primitives.ts';
import {
  CreateSavedViewBody,
  SavedView,
  SavedViewSearch,
  UpdateSavedViewBody,
} from '../../../schemas/saved-view.ts';
import { pageOf } from '../../../schemas/search.ts';
import { changed, newRecord, sent } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import {
  changeView,
  deleteView,
  getView,
  insertView,
  lockOwnView,
  searchViews,
} from './repository.ts';

export const savedViewRoutes = [
  route({
    method: 'POST',
    path: '/saved-views',
    summary: 'Save the filters of a page under a name',
    permission: 'saved_view:write',
    body: CreateSavedViewBody,
    status: 201,
    answer: SavedView,
    handler: (call) =>
      call.deps.pool.begin((tx) =>
        insertView(tx, {
          ...newRecord(call.deps, call, 'view'),
          user_id: call.user_id,
          ...call.body,
        }),
      ),
  }),
  route({
    method: 'GET',
    path: '/saved-views',
    summary: 'List own and shared views',
    permission: 'saved_view:read',
    query: SavedViewSearch.query,
    status: 200,
    answer: pageOf(SavedView),
    handler: (call) => searchViews(call.deps.pool, call, call.query),
  }),
  route({
    method: 'POST',
    path: '/saved-views/search',
    summary: 'Search saved views: the caller’s own and shared ones',
    permission: 'saved_view:read',
    body: SavedViewSearch.body,
    status: 200,
    answer: pageOf(SavedView),
    handler: (call) => searchViews(call.deps.pool, call, call.body),
  }),
  route({
    method: 'GET',
    path: '/saved-views/{id}',
    summary: 'Get an own or a shared view',
    permission: 'saved_view:read',
    params: IdParams,
    status: 200,
    answer: SavedView,
    handler: (call) => getView(call.deps.pool, call, call.params.id),
  }),
  route({
    method: 'PUT',
    path: '/saved-views/{id}',
    summary: 'Change a saved view of the caller',
    permission: 'saved_view:write',
    params: IdParams,
    body: UpdateSavedViewBody,
    status: 200,
    answer: SavedView,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        await lockOwnView(tx, call, call.params.id);
        const changes = { ...sent(call.body), ...changed(call.deps, call) };
        return await changeView(tx, call.scope, call.params.id, changes);
      }),
  }),
  route({
    method: 'DELETE',
    path: '/saved-views/{id}',
    summary: 'Delete an own view',
    permission: 'saved_view:write',
    params: IdParams,
    status: 204,
    answer: null,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        await lockOwnView(tx, call, call.params.id);
        await deleteView(tx, call, call.params.id);
      }),
  }),
];
