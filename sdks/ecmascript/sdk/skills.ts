/**
 * Instructions written beforehand.
 *
 * @packageDocumentation
 */
import { invoke, publish, text } from "sdk:wire";

/**
 * Uses a skill.
 *
 * @param name The skill.
 * @returns Its text.
 * @throws {ApiError} `not-found`, `invalid-argument`
 */
export function readSkill(name: string): string {
  return invoke("skills.read_skill", text("skills.read_skill", "name", name));
}

publish("skills", { readSkill });
