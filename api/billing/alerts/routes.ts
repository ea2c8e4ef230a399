import { validateSpendAlert } from '../../../domain/subscription/spend-alert.ts';
import {
  AlertLog,
  AlertLogSearch,
  AlertSetting,
  AlertSettingSearch,
  CreateAlertSettingBody,
  UpdateAlertSettingBody,
} from '../../../schemas/alert.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { changed } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { createAlertSetting } from './create-alert-setting.ts';
import {
  getAlertSetting,
  searchAlertLogs,
  searchAlertSettings,
  updateAlertSettingRow,
} from './repository.ts';

export const alertRoutes = [
  route({
    method: 'POST',
    path: '/alerts/search',
    summary: 'Search alerts that were raised',
    permission: 'alert_settings:read',
    body: AlertLogSearch.body,
    status: 200,
    answer: pageOf(AlertLog),
    handler: ({ deps, scope, body }) => searchAlertLogs(deps.pool, scope, body),
  }),
  route({
    method: 'POST',
    path: '/alerts/setting',
    summary: 'Set the spend limits at which alerts are raised',
    permission: 'alert_settings:write',
    body: CreateAlertSettingBody,
    status: 201,
    answer: AlertSetting,
    handler: (call) =>
      call.deps.pool.begin((tx) => createAlertSetting(tx, call.deps, call, call.body)),
  }),
  route({
    method: 'POST',
    path: '/alerts/setting/search',
    summary: 'Search alert settings',
    permission: 'alert_settings:read',
    body: AlertSettingSearch.body,
    status: 200,
    answer: pageOf(AlertSetting),
    handler: ({ deps, scope, body }) => searchAlertSettings(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/alerts/setting/{id}',
    summary: 'Get an alert setting',
    permission: 'alert_settings:read',
    params: IdParams,
    status: 200,
    answer: AlertSetting,
    handler: ({ deps, scope, params }) => getAlertSetting(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/alerts/setting/{id}',
    summary: 'Replace the config of an alert setting',
    permission: 'alert_settings:write',
    params: IdParams,
    body: UpdateAlertSettingBody,
    status: 200,
    answer: AlertSetting,
    handler: (call) =>
      call.deps.pool.begin((tx) => {
        const { config } = call.body;
        validateSpendAlert(config, 'config');
        return updateAlertSettingRow(tx, call.scope, call.params.id, {
          config,
          enabled: config.alert_enabled,
          ...changed(call.deps, call),
        });
      }),
  }),
  route({
    method: 'DELETE',
    path: '/alerts/setting/{id}',
    summary: 'Delete an alert setting',
    permission: 'alert_settings:write',
    params: IdParams,
    status: 204,
    answer: null,
    async handler(call) {
      await call.deps.pool.begin((tx) =>
        updateAlertSettingRow(tx, call.scope, call.params.id, {
          status: 'deleted',
          ...changed(call.deps, call),
        }),
      );
    },
  }),
];
