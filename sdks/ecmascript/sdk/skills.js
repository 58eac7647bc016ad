/**
 * Instructions written beforehand.
 */
import { invoke, publish, text } from "sdk:wire";

/**
 * Uses a skill.
 *
 * @param {string} name The skill.
 * @returns {string} Its text.
 * @throws {ApiError} `not-found`
 */
export function readSkill(name) {
  return invoke("skills.read_skill", text("skills.read_skill", "name", name));
}

publish("skills", { readSkill });
