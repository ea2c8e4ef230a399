import { register } from 'node:module';

/** `node --import ./scripts/typescript.js file.ts` runs TypeScript on every supported Node, without a build. */
register('./typescript-loader.js', import.meta.url);
