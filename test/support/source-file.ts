/*
 * A source file as the rules of the house see it: what it imports, which globals it uses, how it begins.
 * Parsed by vite's parser, which knows TypeScript; used by test/support/house-rules.ts on the tree and on fixtures.
 */
import { dirname, posix } from 'node:path';
import { parseSync, Visitor } from 'vite';

/** One import or re-export. */
export interface Import {
  /** The path within the tree for a relative one, else the package or module as written. */
  readonly from: string;
  /** Whether nothing of it is left when types are stripped. */
  readonly typeOnly: boolean;
  /** `import * as x` */
  readonly wholesale: boolean;
}

/** A function, method or closure, from its first line to its last. */
export interface FunctionFacts {
  /** 1 for the first line of the file. */
  readonly line: number;
  readonly lines: number;
  /** Positional parameters. */
  readonly parameters: number;
}

/** A parsed source file. */
export interface SourceFile {
  /** Path within the tree, with slashes. */
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  /** Members and globals used, such as `process.env`, `Date.now()`, `new Date()`, `setTimeout()`, `it.skip`. */
  readonly uses: ReadonlySet<string>;
  readonly hasDefaultExport: boolean;
  readonly comments: readonly string[];
  readonly functions: readonly FunctionFacts[];
  /** Lines of text of the block comment that the file begins with; 0 without one. */
  readonly headerLines: number;
}

/**
 * Parses a source file.
 * @throws Error naming the file when it does not parse
 */
export function parseSource(path: string, text: string): SourceFile {
  const { program, module, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`parsing ${path}: ${errors.map(({ message }) => message).join('; ')}`);
  const exported = module.staticExports.flatMap(({ entries }) => entries);
  const uses = new Set<string>();
  const dynamic: Import[] = [];
  const functions: FunctionFacts[] = [];
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length;
  const note = (node: { readonly start: number; readonly end: number; readonly params: readonly unknown[] }) => {
    const line = lineAt(node.start);
    functions.push({ line, lines: lineAt(node.end) - line + 1, parameters: node.params.length });
  };
  new Visitor({
    FunctionDeclaration: note,
    FunctionExpression: note,
    ArrowFunctionExpression: note,
    MemberExpression({ object, property, computed }) {
      const name = property.type === 'Identifier' && !computed ? property.name : stringOf(property);
      if (object.type === 'Identifier' && name !== undefined) uses.add(`${object.name}.${name}`);
    },
    NewExpression({ callee, arguments: given }) {
      if (callee.type === 'Identifier' && given.length === 0) uses.add(`new ${callee.name}()`);
    },
    CallExpression({ callee }) {
      if (callee.type === 'Identifier') uses.add(`${callee.name}()`);
    },
    VariableDeclarator({ id, init }) {
      if (id.type !== 'ObjectPattern' || init?.type !== 'Identifier') return;
      for (const property of id.properties) {
        if (property.type === 'Property' && property.key.type === 'Identifier') {
          uses.add(`${init.name}.${property.key.name}`);
        }
      }
    },
    ImportExpression({ source }) {
      dynamic.push({ from: placed(path, stringOf(source) ?? '(computed)'), typeOnly: false, wholesale: false });
    },
    TSAsExpression({ expression }) {
      if (expression.type === 'TSAsExpression') uses.add('as … as');
    },
  }).visit(program);
  const reexports = exported.flatMap(({ moduleRequest, isType, importName }) =>
    moduleRequest === null
      ? []
      : [{ from: placed(path, moduleRequest.value), typeOnly: isType, wholesale: importName.kind !== 'Name' }],
  );
  const imports = module.staticImports.map(({ moduleRequest, entries }) => ({
    from: placed(path, moduleRequest.value),
    typeOnly: entries.length > 0 && entries.every(({ isType }) => isType),
    wholesale: entries.some(({ importName }) => importName.kind === 'NamespaceObject'),
  }));
  return {
    path,
    lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    imports: [...imports, ...reexports, ...dynamic],
    uses,
    functions,
    hasDefaultExport: exported.some(({ exportName }) => exportName.kind === 'Default' || exportName.name === 'default'),
    comments: comments.map(({ value }) => value),
    headerLines: headerLinesOf(text),
  };
}

function stringOf(node: { readonly type: string; readonly value?: unknown }): string | undefined {
  return node.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
}

function placed(path: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(dirname(path), specifier) : specifier;
}

function headerLinesOf(text: string): number {
  const header = /^(?:#!.*\n)?(?:\/\/ @ts-check\n)?\/\*([\s\S]*?)\*\//.exec(text)?.[1];
  return header === undefined ? 0 : header.split('\n').filter((line) => /\w/.test(line)).length;
}
