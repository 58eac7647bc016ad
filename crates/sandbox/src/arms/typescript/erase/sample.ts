import { type A, b, c as d, E } from "gg";
import whole, { type AA } from "lib:k";
import * as all from "lib:k";
import type { F } from "gg";
import { G } from "gg";
interface H extends Object { h: "é😀" }
export type I<T> = { [K in keyof T]: T[K] };
declare const j: number;
declare function k(): void;
declare module "l" {}
declare global {}
declare enum M { N }
export type { A } from "gg";
abstract class O<T> extends Array<T> implements H, I<T> {
  declare p: number;
  private readonly q?: string = "é";
  protected r!: T;
  public static s: number
  public [d.t] = 1
  readonly *u(): Generator<T> {}
  [v: string]: any;
  constructor(x: string);
  constructor(x?: any) { super(); }
  abstract y(): void;
  override z<U extends T>(this: O<U>, a: U, ...rest: U[]): a is U { return <boolean>b(a!); }
  get aa(): number { return 1 as const satisfies number; }
}
function bb(a: number): number;
function bb(a?: unknown): unknown { return a; }
const cc = async <T,>({ a }: { a: T }, f?: () => void): Promise<
  T
> => { await a; return (a as unknown) as T; };
let dd!: Map<string, A>, ee: unique symbol, ff = new Map<string, typeof all>(), gg = bb<A>;
for (const hh of whole as number[]) ff!.get<string>`x${hh as number}`;
try { throw E; } catch (error: unknown) { ({ E: 1, b }).E; }
const ii = class<T> implements H { h!: never };
const jj = (a as number) + <number>dd! / 2;
