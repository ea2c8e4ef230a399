import { startTestApi, type TestApi } from '../../support/api.ts';
import { startMailCatcher, tokenIn, type MailCatcher } from '../../support/mail-catcher.ts';
import { sendDueEmails } from '../../support/send-emails.ts';

const anonymous = { 'x-api-key': '' };
const HOUR_MS = 3_600_000;

/**
 * With a mail server, a tenant is created, and its existence is revealed, only to the reader of the address's
 * mail.
 */
describe('sign-up where e-mail is sent', () => {
  let api: TestApi;
  let catcher: MailCatcher;
  beforeAll(async () => {
    api = await startTestApi({ switches: { sendsEmail: true } });
    catcher = await startMailCatcher();
  });
  afterAll(async () => {
    await catcher.close();
    await api.close();
  });
  beforeEach(() => {
    catcher.mails.length = 0;
    api.clock.advance(16 * 60_000);
  });

  const signUp = (email: string, fields: object = {}) =>
    api.post('/v1/auth/signup', { email, password: 'password-1', ...fields }, anonymous);
  const verify = (body: object) => api.post('/v1/auth/verify', body, anonymous);
  const mailTo = async (email: string) => {
    await sendDueEmails(api, catcher);
    const mail = catcher.mails.find(({ to }) => to.includes(email));
    if (mail === undefined) throw new Error(`no mail to ${email}`);
    return mail;
  };

  test('202, then the token and the password of the sign-up make the tenant, once', async () => {
    const { status, body } = await signUp('New@Example.test', { tenant_name: 'Acme' });
    expect([status, Object.keys(body)]).toEqual([202, ['message']]);
    expect(await api.pool`select 1 from users where email = 'new@example.test'`).toEqual([]);
    const token = tokenIn(await mailTo('new@example.test'));
    const verified = await verify({ token, password: 'password-1' });
    expect(verified.status).toBe(200);
    const me = await api.get('/v1/users/me', {
      ...anonymous,
      authorization: `Bearer ${verified.body.token}`,
    });
    expect(me.body).toMatchObject({
      email: 'new@example.test',
      roles: ['super_admin'],
      tenant: { name: 'Acme' },
    });
    const again = await verify({ token, password: 'password-1' });
    expect([again.status, again.body.details[0].path]).toEqual([400, 'token']);
  });

  test('of two who use a token at once, one makes the tenant', async () => {
    await signUp('twice@example.test');
    const token = tokenIn(await mailTo('twice@example.test'));
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => verify({ token, password: 'password-1' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
  });

  test('an address that has an account gets the same answer and another message', async () => {
    const unknown = await signUp('unknown@example.test');
    await api.post('/v1/users', { type: 'user', email: 'known@example.test' });
    await mailTo('known@example.test');
    catcher.mails.length = 0;
    const known = await signUp('known@example.test');
    expect([known.status, known.body]).toEqual([unknown.status, unknown.body]);
    const mail = await mailTo('known@example.test');
    expect(mail.headers['subject']).toBe('You have an account already');
    expect(mail.text).not.toContain('"token"');
    expect(await api.pool`select 1 from users where email = 'known@example.test'`).toHaveLength(1);
  });

  test('who is invited chooses a password with the link, once and within seven days', async () => {
    const invite = async (email: string) =>
      tokenIn(await api.post('/v1/users', { type: 'user', email }).then(() => mailTo(email)));
    const reset = (token: string) =>
      api.post('/v1/auth/password/reset', { token, new_password: 'my own password' }, anonymous);
    const token = await invite('Invited@example.test'.toLowerCase());
    const mail = catcher.mails.find(({ to }) => to.includes('invited@example.test'))!;
    expect(mail.headers['subject']).toBe('You have been invited');
    expect((await reset(token)).status).toBeLessThan(300);
    expect((await reset(token)).status).toBe(400);
    const login = { email: 'invited@example.test', password: 'my own password' };
    expect((await api.post('/v1/auth/login', login, anonymous)).status).toBe(200);

    const late = await invite('late-guest@example.test');
    api.clock.advance(7 * 24 * HOUR_MS);
    expect((await reset(late)).status).toBe(400);
    await api.post('/v1/users', { type: 'service_account', roles: ['event_ingestor'] });
    const removed = await api.post('/v1/users', { type: 'user', email: 'gone@example.test' });
    await api.post(`/v1/users/${removed.body.id}/remove`, {});
    expect(await sendDueEmails(api, catcher)).toMatchObject({ dropped: 1 });
  });

  test('who reads the mail but did not choose the password makes no account', async () => {
    await signUp('victim@example.test', { password: 'chosen-by-another' });
    const token = tokenIn(await mailTo('victim@example.test'));
    for (const body of [{ token }, { token, password: 'my own password' }])
      expect((await verify(body)).status).toBe(401);
    expect(await api.pool`select 1 from users where email = 'victim@example.test'`).toEqual([]);
  });

  test('a sign-up without a password is finished without one', async () => {
    await signUp('bare@example.test', { password: undefined });
    const token = tokenIn(await mailTo('bare@example.test'));
    expect((await verify({ token })).status).toBe(200);
  });

  test('a token is good for 24 hours', async () => {
    await signUp('late@example.test');
    const token = tokenIn(await mailTo('late@example.test'));
    api.clock.advance(24 * HOUR_MS);
    expect((await verify({ token, password: 'password-1' })).status).toBe(400);
  });

  test('the message contains no text of a stranger, in no header and in no line', async () => {
    const tenant_name = 'Acme\r\nBcc: other@example.test\r\n\r\nBuy now: https://evil.example';
    const { status } = await signUp('named@example.test', { tenant_name });
    expect([202, 400]).toContain(status);
    await signUp('named@example.test', { tenant_name: 'Buy now: https://evil.example' });
    const mail = await mailTo('named@example.test');
    expect(mail.to).toEqual(['named@example.test']);
    expect(JSON.stringify(mail)).not.toContain('evil.example');
  });

  test('one address gets at most five messages an hour, from all senders together', async () => {
    for (let request = 0; request < 8; request += 1) await signUp('flooded@example.test');
    const report = await sendDueEmails(api, catcher);
    expect(report).toMatchObject({ sent: 5, dropped: 3 });
  });

  test('429: one network asks for twenty messages in 15 minutes', async () => {
    for (let request = 0; request < 20; request += 1)
      expect((await signUp(`many-${request}@example.test`)).status).toBe(202);
    const { status, headers } = await signUp('many-20@example.test');
    expect([status, headers['retry-after']]).toEqual([429, '900']);
  });

  test('a server that is busy gets the message later', async () => {
    await sendDueEmails(api, catcher);
    await signUp('patient@example.test');
    catcher.isBusy = true;
    expect(await sendDueEmails(api, catcher)).toMatchObject({ sent: 0, failed: 1 });
    catcher.isBusy = false;
    expect(await sendDueEmails(api, catcher)).toMatchObject({ sent: 0, failed: 0 });
    api.clock.advance(60_000);
    const token = tokenIn(await mailTo('patient@example.test'));
    expect((await verify({ token, password: 'password-1' })).status).toBe(200);
  });

  test('a message that no server accepts is given up within a day', async () => {
    await sendDueEmails(api, catcher);
    await signUp('never@example.test');
    catcher.isBusy = true;
    let attempts = 0;
    for (let minute = 0; minute < 24 * 60; minute += 1) {
      attempts += (await sendDueEmails(api, catcher))['failed']!;
      api.clock.advance(60_000);
    }
    catcher.isBusy = false;
    expect(attempts).toBe(8);
    expect(await sendDueEmails(api, catcher)).toMatchObject({ sent: 0 });
    const [row] = await api.pool<{ last_error: string }[]>`
      select last_error from emails_outbox
       where recipient = 'never@example.test' and given_up_at is not null`;
    expect(row!.last_error).toMatch(/busy/);
  });

  test('neither the queue nor any table keeps a token', async () => {
    await signUp('secret@example.test');
    const token = tokenIn(await mailTo('secret@example.test'));
    for (const table of ['emails_outbox', 'sign_ups', 'one_time_tokens', 'audit_log']) {
      const rows = await api.pool<{ row: string }[]>`
        select t::text as row from ${api.pool(table)} t`;
      expect(rows.filter(({ row }) => row.includes(token))).toEqual([]);
    }
  });
});
