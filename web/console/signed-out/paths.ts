/** Addresses of the forms for people who are not signed in. They do not name an environment. */
export const FORMS = [
  '/sign-up',
  '/forgot-password',
  '/reset-password',
  '/verify',
  '/company-sign-in',
  '/sso',
] as const;
export type FormPath = (typeof FORMS)[number] | '/';

/** The form at the address; the sign-in at every other one. */
export const formAt = (path: string): FormPath => FORMS.find((form) => form === path) ?? '/';

/** Forms that are shown to a signed-in person too: their link came by e-mail or from an identity provider. */
export const isForEverybody = (path: string): boolean =>
  ['/reset-password', '/verify', '/sso'].includes(path);
