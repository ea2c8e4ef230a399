import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Builds the three entries into `dist/web`, which the API serves (`platform/http/pages.ts`). */
export default defineConfig({
  root: here('.'),
  publicDir: false,
  resolve: {
    // `domain/` asserts; in a browser a small function of the same contract does it.
    alias: { 'node:assert/strict': here('./app/assert.ts') },
  },
  build: {
    outDir: here('../dist/web'),
    emptyOutDir: true,
    // Which page needs which files: a test adds up their sizes.
    manifest: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // Fonts and images stay files: a data URI would need a wider content security policy.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      onLog: (level, log, handle) => {
        // Packages mark modules for servers that render React; there is none here.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log);
      },
      input: {
        console: here('./console/index.html'),
        portal: here('./portal/index.html'),
        checkout: here('./checkout/index.html'),
      },
    },
  },
});
