import { makePasswordToken } from '../../../api/tenancy/auth/one-time-token-repository.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import {
  startMailCatcher,
  tokenIn,
  type CaughtMail,
  type MailCatcher,
} from '../../support/mail-catcher.ts';
import { sendDueEmails } from '../../support/send-emails.ts';

const anonymous = { 'x-api-key': '' };
const HOUR_MS = 3_600_000;
const bearer = (token: string) => ({ ...anonymous, authorization: `Bearer ${token}` });

describe('passwords', () => {
  let api: TestApi;
  let catcher: MailCatcher;
  let people = 0;
  beforeAll(async () => {
    api = await startTestApi({ switches: { sendsEmail: true } });
    catcher = await startMailCatcher();
    await api.put('/v1/settings/tenant_config', { value: { max_users: 1000 } });
  });
  afterAll(async () => {
    await catcher.close();
    await api.close();
  });
  beforeEach(() => {
    catcher.mails.length = 0;
    api.clock.advance(16 * 60_000);
  });

  const invite = async (fields: object = {}) => {
    const email = `person-${(people += 1)}@example.test`;
    const { body } = await api.post('/v1/users', { type: 'user', email, ...fields });
    // The tests count the mails that follow.
    await api.pool`delete from emails_outbox where kind = 'invitation'`;
    return { id: body.id as string, email, password: body.password as string };
  };
  const logIn = (email: string, password: string) =>
    api.post('/v1/auth/login', { email, password }, anonymous);
  const isAlive = async (token: string) =>
    (await api.get('/v1/users/me', bearer(token))).status === 200;

  describe('PUT /users/me/password', () => {
    test('200: the new one works, the old one does not, and other sessions end', async () => {
      const person = await invite();
      const [own, other] = [
        (await logIn(person.email, person.password)).body,
        (await logIn(person.email, person.password)).body,
      ];
      const change = { current_password: person.password, new_password: 'a new password' };
      const { status } = await api.put('/v1/users/me/password', change, bearer(own.token));
      expect(status).toBe(200);
      expect([await isAlive(own.token), await isAlive(other.token)]).toEqual([true, false]);
      expect((await logIn(person.email, person.password)).status).toBe(401);
      expect((await logIn(person.email, 'a new password')).status).toBe(200);
      const refreshed = (session: { refresh_token: string }) =>
        api.post('/v1/auth/refresh', { refresh_token: session.refresh_token }, anonymous);
      expect((await refreshed(other)).status).toBe(401);
      expect((await refreshed(own)).status).toBe(200);
    });

    test('the person is written to, and the message has no token', async () => {
      const person = await invite();
      const { token } = (await logIn(person.email, person.password)).body;
      const change = { current_password: person.password, new_password: 'a new password' };
      await api.put('/v1/users/me/password', change, bearer(token));
      await sendDueEmails(api, catcher);
      const mail = catcher.mails.find(({ to }) => to.includes(person.email))!;
      expect(mail.headers['subject']).toBe('Your password was changed');
      expect(mail.text).not.toMatch(/reset_|verify_/);
    });

    test('400 and then 429: guesses at the current one count as failed logins', async () => {
      const person = await invite();
      const { token } = (await logIn(person.email, person.password)).body;
      const change = (current_password: string) =>
        api.put(
          '/v1/users/me/password',
          { current_password, new_password: 'a new password' },
          bearer(token),
        );
      const wrong = await change('not the password');
      expect([wrong.status, wrong.body.details[0].path]).toEqual([400, 'current_password']);
      const short = await change('short');
      expect(short.body.details[0].message).toBe('is not the password of this account');
      for (let guess = 0; guess < 8; guess += 1) await change('not the password');
      expect((await change(person.password)).status).toBe(429);
      expect((await logIn(person.email, person.password)).status).toBe(429);
    });

    test('400: a short new one', async () => {
      const person = await invite();
      const { token } = (await logIn(person.email, person.password)).body;
      const body = { current_password: person.password, new_password: 'short' };
      const answer = await api.put('/v1/users/me/password', body, bearer(token));
      expect([answer.status, answer.body.details[0].path]).toEqual([400, 'new_password']);
    });

    test('400: the own e-mail address in any case; the session stays', async () => {
      const person = await invite();
      const { token } = (await logIn(person.email, person.password)).body;
      for (const new_password of [person.email, ` ${person.email.toUpperCase()}`]) {
        const body = { current_password: person.password, new_password };
        const answer = await api.put('/v1/users/me/password', body, bearer(token));
        expect([answer.status, answer.body.details[0].path]).toEqual([400, 'new_password']);
      }
      expect((await logIn(person.email, person.password)).status).toBe(200);
    });

    test('403 for an API key: it is not the person', async () => {
      const body = { current_password: 'password-1', new_password: 'password-2' };
      expect((await api.put('/v1/users/me/password', body)).status).toBe(403);
    });
  });

  describe('POST /auth/password/forgot and /reset', () => {
    const forgot = (email: string) => api.post('/v1/auth/password/forgot', { email }, anonymous);
    const reset = (token: string, new_password: string) =>
      api.post('/v1/auth/password/reset', { token, new_password }, anonymous);
    const mailedToken = async (email: string) => {
      await forgot(email);
      await sendDueEmails(api, catcher);
      const isReset = ({ to, headers }: CaughtMail) =>
        to.includes(email) && headers['subject'] === 'Set a new password';
      return tokenIn(catcher.mails.findLast(isReset)!);
    };

    test('the token of the mail sets a password, once, and every session ends', async () => {
      const person = await invite();
      const session = (await logIn(person.email, person.password)).body;
      const token = await mailedToken(person.email.toUpperCase().toLowerCase());
      expect((await reset(token, 'after the reset')).status).toBe(200);
      expect(await isAlive(session.token)).toBe(false);
      expect((await logIn(person.email, person.password)).status).toBe(401);
      expect((await logIn(person.email, 'after the reset')).status).toBe(200);
      const again = await reset(token, 'once more');
      expect([again.status, again.body.details[0].path]).toEqual([400, 'token']);
    });

    test('who was locked out while guessing logs in after the reset', async () => {
      const person = await invite();
      for (let guess = 0; guess < 10; guess += 1) await logIn(person.email, 'wrong-word');
      const token = await mailedToken(person.email);
      expect((await logIn(person.email, person.password)).status).toBe(429);
      expect((await reset(token, 'after the reset')).status).toBe(200);
      expect((await logIn(person.email, 'after the reset')).status).toBe(200);
    });

    test('of two who use a token at once, one sets the password', async () => {
      const person = await invite();
      const token = await mailedToken(person.email);
      const answers = await Promise.all(
        ['one password', 'two password', 'three passwords'].map((word) => reset(token, word)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
    });

    test('a new password ends the tokens that were requested before', async () => {
      const person = await invite();
      const [first, second] = [await mailedToken(person.email), await mailedToken(person.email)];
      expect((await reset(second, 'after the reset')).status).toBe(200);
      expect((await reset(first, 'by a thief')).status).toBe(400);
    });

    test('a token is good for an hour, and not for a person who was removed', async () => {
      const [late, removed] = [await invite(), await invite()];
      const token = await mailedToken(late.email);
      const other = await mailedToken(removed.email);
      await api.post(`/v1/users/${removed.id}/remove`);
      expect((await reset(other, 'after the reset')).status).toBe(400);
      api.clock.advance(HOUR_MS);
      expect((await reset(token, 'after the reset')).status).toBe(400);
    });

    test('one answer for every address, and no mail to unknown ones', async () => {
      await sendDueEmails(api, catcher);
      catcher.mails.length = 0;
      const person = await invite();
      const known = await forgot(person.email);
      const unknown = await forgot('nobody@example.test');
      expect([known.status, known.body]).toEqual([202, unknown.body]);
      expect(unknown.status).toBe(202);
      expect(await sendDueEmails(api, catcher)).toMatchObject({ sent: 1, dropped: 1 });
      expect(catcher.mails.map(({ to }) => to)).toEqual([[person.email]]);
    });

    test('a person of an identity provider gets an e-mail to log in there, and no token', async () => {
      const person = await invite();
      await api.pool`update users set password_hash = null where id = ${person.id}`;
      await sendDueEmails(api, catcher);
      catcher.mails.length = 0;
      await forgot(person.email);
      await sendDueEmails(api, catcher);
      expect(catcher.mails[0]!.text).toContain('/v1/auth/saml/');
      expect(catcher.mails[0]!.text).not.toContain('"token"');
    });

    test('403: a tenant that demands single sign-on takes no password by a token either', async () => {
      const person = await invite();
      const other = await api.newCaller();
      await api.pool`update users set tenant_id = ${other.scope.tenant_id} where id = ${person.id}`;
      const value = {
        enabled: true, enforce_sso: true, idp_entity_id: 'https://idp.example.test',
        idp_sso_url: 'https://idp.example.test/sso', idp_certificate: 'of no matter here',
      }; // prettier-ignore
      await api.pool`insert into settings ${api.pool({
        id: 'setting_sso', tenant_id: other.scope.tenant_id, environment_id: '',
        key: 'saml_config', value: api.pool.json(value),
      })}`; // prettier-ignore
      const user = { id: person.id, tenant_id: other.scope.tenant_id };
      const token = await makePasswordToken(api.pool, user, 'operator', api.clock.now());
      const { status, body } = await reset(token, 'after the reset');
      expect([status, body.code]).toEqual([403, 'sso_required']);
    });

    test('400 without a mail server: it says who helps', async () => {
      const silent = await startTestApi();
      const answer = await silent.post('/v1/auth/password/forgot', { email: 'a@example.test' });
      expect([answer.status, answer.body.message]).toEqual([
        400,
        expect.stringContaining('reset-password'),
      ]);
      await silent.close();
    });

    test('the first person has no password, and gets one by the token of the first start', async () => {
      const [admin] = await api.pool<{ id: string; tenant_id: string }[]>`
        update users set email = 'admin@localhost' where id = ${api.user_id}
        returning id, tenant_id`;
      expect((await logIn('admin@localhost', 'password-1')).status).toBe(401);
      const token = await makePasswordToken(api.pool, admin!, 'first_start', api.clock.now());
      expect((await reset(token, 'the first password')).status).toBe(200);
      expect((await logIn('admin@localhost', 'the first password')).status).toBe(200);
    });
  });
});
