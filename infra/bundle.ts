/*
 * Makes one self-contained, minified ES module of an entry and all that it really uses, with esbuild.
 * Called by build.ts for the bridge, the command line and each function, and by kit/ for the functions of other projects.
 * Equal sources give equal bytes, wherever the tree lies.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, relative } from 'node:path';
import type { BuildOptions, OutputFile, Plugin } from 'esbuild';
import { loadEsbuild } from './kit/tools.ts';

const root = join(import.meta.dirname, '..');

// Packages of CommonJS form call require() for Node's own modules; an ES module has none unless it makes one.
const REQUIRE =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

/** Said by a bundle that people start, before anything of it runs: on an older Node.js it would end in a page of its text. */
const NODE_LEAST = [22, 19] as const;
const VERSION_CHECK = [
  'const[__major,__minor]=process.versions.node.split(".").map(Number);',
  `if(__major<${NODE_LEAST[0]}||(__major===${NODE_LEAST[0]}&&__minor<${NODE_LEAST[1]})){`,
  `process.stderr.write("needs Node.js ${NODE_LEAST.join('.')} or newer; this is "+process.versions.node+"\\n");process.exit(2)}`,
].join('');

/** By this a shell finds the interpreter of a file that is executed. */
const INTERPRETER = '#!/usr/bin/env node\n';

/** What was made, and its size. */
export interface Bundle {
  readonly name: string;
  /** Absolute path of the module; its source map lies beside it. */
  readonly file: string;
  /** Size in bytes, minified, without the source map. */
  readonly bytes: number;
  /** Bytes by the file that they come from, as a path from the tree's root. */
  readonly bytesOf: Readonly<Record<string, number>>;
}

/** What to bundle. */
export interface BundleRequest {
  readonly name: string;
  /** Root of the tree, an absolute path; this project's unless told. */
  readonly folder?: string;
  /** A file of the tree, or the text of a module whose imports are relative to the tree's root. */
  readonly entry: { readonly file: string } | { readonly text: string };
  /** Absolute path of the module to write. */
  readonly outfile: string;
  /** People start it by its name. */
  readonly isExecutable?: boolean;
  /** Started on whatever Node.js is there, so it looks at that first. */
  readonly checksNode?: boolean;
}

/**
 * Bundles and writes one module, its source map and the licence texts of what is in it.
 * @throws Error naming the bundle; esbuild's messages, each with its place, are its text
 */
export async function bundle(request: BundleRequest): Promise<Bundle> {
  const { name, folder = root, entry, outfile } = request;
  const { build } = await loadEsbuild(folder);
  const source: BuildOptions =
    'file' in entry
      ? { entryPoints: [join(folder, entry.file)] }
      : { stdin: { contents: entry.text, resolveDir: folder, sourcefile: `${name}.ts`, loader: 'ts' } };
  const result = await build({
    ...source,
    // Nothing is written there: the source map names files relative to it, and is to be the same wherever it goes.
    outfile: join(folder, 'build', name, 'module.mjs'),
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    treeShaking: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // The ES module form of a package first: only that can be shaken.
    mainFields: ['module', 'main'],
    banner: { js: bannerOf(request) },
    legalComments: 'external',
    sourcemap: 'external',
    write: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [freeOfSideEffects('@kubernetes/client-node'), ...(folder === root ? own() : [])],
  }).catch((cause: unknown) => {
    throw new Error(`bundling ${name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  });
  const bytes = await write(request, result.outputFiles);
  const inputs = Object.values(result.metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const bytesOf = Object.fromEntries(inputs.map(([path, { bytesInOutput }]) => [path, bytesInOutput]));
  return { name, file: outfile, bytes, bytesOf };
}

function bannerOf({ isExecutable = false, checksNode = false }: BundleRequest): string {
  return [isExecutable ? INTERPRETER : '', checksNode ? VERSION_CHECK : '', REQUIRE].join('');
}

/** The module, its source map and its licences, by what follows the module's name. */
const WRITTEN = ['', '.map', '.LEGAL.txt'];

/**
 * Writes module, source map and licences in place of earlier ones; returns the size of the module in bytes. What else lies in the
 * folder stays: somebody may have named a file of their own folder.
 */
async function write({ outfile, isExecutable = false }: BundleRequest, files: readonly OutputFile[]): Promise<number> {
  for (const extra of WRITTEN) await rm(`${outfile}${extra}`, { force: true });
  await mkdir(dirname(outfile), { recursive: true });
  let bytes = 0;
  for (const { path, contents } of files) {
    const extra = basename(path).slice('module.mjs'.length);
    await writeFile(`${outfile}${extra}`, contents, extra === '' && isExecutable ? { mode: 0o755 } : {});
    if (extra === '') bytes = contents.byteLength;
  }
  return bytes;
}

/** A bundle on one line: its size and where it lies. */
export function describe({ file, bytes }: Bundle): string {
  return `${(bytes / 1000).toFixed(0).padStart(6)} KB  ${relative(root, file)}`;
}

/**
 * What a handler asks of IAM is read when its role is made, never by its function: 1 KB of the 80 that s3-bucket has. A file of
 * this name beside a handler holds nothing else.
 */
const withoutPermissions: Plugin = {
  name: 'without-permissions',
  setup({ onLoad }) {
    onLoad({ filter: /\/functions\/handlers\/[^/]+\/permissions\.ts$/ }, () => ({
      contents: 'export const permissions = [];',
      loader: 'ts',
    }));
  },
};

/**
 * Lets esbuild drop every module of a package that nobody uses. The Kubernetes client does not say so of itself, and its
 * hundreds of generated API and model classes cost 50 MB of memory and half a second at start.
 */
function freeOfSideEffects(packageName: string): Plugin {
  const inside = `/node_modules/${packageName}/`;
  const entrance = new RegExp(`^${packageName}(/|$)`);
  return {
    name: 'free-of-side-effects',
    setup({ onResolve, resolve }) {
      onResolve({ filter: entrance }, async ({ path, importer, namespace, resolveDir, kind, pluginData }) => {
        // Resolving asks this plugin again; the mark says that it is on its own errand.
        if (pluginData === packageName) return undefined;
        const found = await resolve(path, { importer, namespace, resolveDir, kind, pluginData: packageName });
        return { path: found.path, errors: found.errors, warnings: found.warnings, sideEffects: false };
      });
      // Its own modules name each other by file; asking esbuild for each of a thousand would take seconds.
      onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ path, importer, resolveDir }) =>
        importer.includes(inside) ? { path: join(resolveDir, path), sideEffects: false } : undefined,
      );
    },
  };
}

/** For this project's own bundles only: what other projects import, and what their files hold, is not known here. */
const own = (): readonly Plugin[] => [withoutPermissions, partsOfUndici(), plainText()];

/** What is taken of undici; its whole has a cache, mocks, fetch and WebSocket beside them. */
const UNDICI_PARTS = { Agent: 'dispatcher/agent', ProxyAgent: 'dispatcher/proxy-agent' };

/**
 * Lets a bundle run undici's dispatchers alone: its index runs all of it, which costs several MB of memory. The Kubernetes
 * client has a way to call `fetch`, so that the whole is there, and run when somebody goes that way. Another name is an error.
 */
function partsOfUndici(): Plugin {
  const names = Object.entries(UNDICI_PARTS);
  const contents = [
    "import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';",
    "import api from 'undici/lib/api/index.js';",
    ...names.map(([name, path]) => `import ${name} from 'undici/lib/${path}.js';`),
    // As its index does.
    'Object.assign(Dispatcher.prototype, api);',
    `export { ${names.map(([name]) => name).join(', ')} };`,
    "export const fetch = (...args) => require('undici/index.js').fetch(...args);",
  ].join('\n');
  return {
    name: 'parts-of-undici',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'parts' }));
      onLoad({ filter: /^undici$/, namespace: 'parts' }, () => ({ contents, resolveDir: root }));
    },
  };
}

/** Files with other characters than ASCII in regular expressions, where esbuild leaves them as they are. */
const WITH_OTHER_TEXT = /[/\\](bridge[/\\]duration\.ts|cel-js[/\\]lib[/\\]functions\.js)$/;

/** Escapes what is not ASCII: V8 keeps the text of a module with two bytes a character if one of them needs it. */
function plainText(): Plugin {
  const escaped = (text: string) =>
    text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return {
    name: 'plain-text',
    setup({ onLoad }) {
      onLoad({ filter: WITH_OTHER_TEXT }, async ({ path }) => ({
        contents: escaped(await readFile(path, 'utf8')),
        loader: extname(path) === '.ts' ? 'ts' : 'js',
      }));
    },
  };
}
