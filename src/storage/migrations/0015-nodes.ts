/**
 * The rows that several nodes on one PostgreSQL share beside the data: who runs, what they learnt, and the counters of limits. SQLite has
 * one node. The tables are unlogged: they say what holds for a minute, and a crash may empty them. Released: never change it.
 */
import { type Kysely, type Migration, sql } from 'kysely'

import type { Engine } from '../engine.ts'

export const nodes = (engine: Engine): Migration => ({
  async up(db: Kysely<unknown>) {
    if (engine !== 'postgres') return
    await sql`create unlogged table nodes (
      id text collate "C" not null primary key,
      seen_at timestamptz not null,
      board text collate "C" not null
    )`.execute(db)
    // `full_at`: when all of the rate is there again, in seconds since 1970.
    await sql`create unlogged table limit_rates (
      name text collate "C" not null primary key,
      full_at double precision not null
    )`.execute(db)
    await sql`create unlogged table limit_running (
      key_hash text collate "C" not null,
      node text collate "C" not null,
      running integer not null,
      lease_until timestamptz not null,
      primary key (key_hash, node)
    )`.execute(db)
    await sql`create function patchbay_set_running(a_key text, a_node text, a_running integer, a_lease double precision) returns void
      language sql as $$
        insert into limit_running values (a_key, a_node, a_running, clock_timestamp() + make_interval(secs => a_lease))
          on conflict (key_hash, node) do update set running = excluded.running, lease_until = excluded.lease_until
      $$`.execute(db)
    await sql`create function patchbay_use_rate(a_name text, an_amount double precision) returns void
      language sql as $$
        insert into limit_rates values (a_name, extract(epoch from clock_timestamp()) + an_amount)
          on conflict (name) do update
          set full_at = greatest(limit_rates.full_at, extract(epoch from clock_timestamp())) + an_amount
      $$`.execute(db)
    // Decides as the script of Redis does (storage/limits/redis-scripts.ts). One lock for each key, taken first.
    await sql`create function patchbay_enter(
        a_key text, a_node text, a_running integer, a_concurrency integer, a_lease double precision, a_tokens integer, a_requests integer,
        out refused_by integer, out remaining double precision, out retry_after_ms double precision, out reset_ms double precision)
      language plpgsql as $$
      declare
        now_s double precision;
        others bigint;
        limits integer[] := array[a_tokens, a_requests];
        names text[] := array['tokens ' || a_key || ' ' || a_tokens, 'requests ' || a_key || ' ' || a_requests];
        at_s double precision;
        over_s double precision;
      begin
        perform pg_advisory_xact_lock(1886675042, hashtext(a_key));
        now_s := extract(epoch from clock_timestamp());
        refused_by := 0;
        remaining := 0;
        retry_after_ms := 0;
        reset_ms := 0;
        if a_concurrency > 0 then
          delete from limit_running where key_hash = a_key and lease_until < clock_timestamp();
          select coalesce(sum(running), 0) into others from limit_running where key_hash = a_key and node <> a_node;
          if others + a_running > a_concurrency then
            refused_by := 1;
            return;
          end if;
        end if;
        for kind in 1..2 loop
          if limits[kind] > 0 then
            select full_at into at_s from limit_rates where name = names[kind];
            at_s := greatest(coalesce(at_s, now_s), now_s);
            over_s := at_s + 60.0 / limits[kind] - now_s - 60;
            if over_s > 0.000001 then
              refused_by := kind + 1;
              remaining := greatest(0, floor((60 - (at_s - now_s)) * limits[kind] / 60 + 0.000000001));
              retry_after_ms := over_s * 1000;
              reset_ms := (at_s - now_s) * 1000;
              return;
            end if;
          end if;
        end loop;
        if a_concurrency > 0 then
          perform patchbay_set_running(a_key, a_node, a_running, a_lease);
        end if;
        for kind in 1..2 loop
          if limits[kind] > 0 then
            perform patchbay_use_rate(names[kind], 60.0 / limits[kind]);
          end if;
        end loop;
      end $$`.execute(db)
    await sql`create function patchbay_correct(
        a_key text, a_node text, a_running integer, a_concurrency integer, a_lease double precision,
        a_tokens integer, used_tokens double precision, a_requests integer, used_requests double precision)
      returns void language plpgsql as $$
      begin
        perform pg_advisory_xact_lock(1886675042, hashtext(a_key));
        if a_concurrency > 0 then
          if a_running > 0 then
            perform patchbay_set_running(a_key, a_node, a_running, a_lease);
          else
            delete from limit_running where key_hash = a_key and node = a_node;
          end if;
        end if;
        if a_tokens > 0 and used_tokens <> 0 then
          perform patchbay_use_rate('tokens ' || a_key || ' ' || a_tokens, used_tokens * 60.0 / a_tokens);
        end if;
        if a_requests > 0 and used_requests <> 0 then
          perform patchbay_use_rate('requests ' || a_key || ' ' || a_requests, used_requests * 60.0 / a_requests);
        end if;
      end $$`.execute(db)
    // Processes listen for it, and read again what they know (compose/cache-watch.ts).
    await sql`create function patchbay_changed() returns trigger language plpgsql as $$
      begin
        perform pg_notify('patchbay_changes', '');
        return null;
      end $$`.execute(db)
    await sql`create trigger change_counter_changed after update on change_counter
      for each statement execute function patchbay_changed()`.execute(db)
  },
})
