-- Plays battles that the adapter asks for, one after another, in one process of the game.
--
-- Work arrives as a text file beside this one. The game waits for it without using the processor: opening the named
-- pipe "gate" blocks until the adapter opens its other end. Reading a pipe as a file then fails, which is expected.
-- Everything printed for the adapter starts with "EQ" and has fields separated by tabs.
--
-- A line of work is one of
--   battle <number> <start turn> <turn limit>
--   unit   <side> <x> <y> <type> <trait or -> <artifact or 0> <hitpoints> <moves> <melee> <ranged> <resistance>
--                                                   (the last five are changes against the installed game's values)
--   end
-- and the answer to a battle is: EQ result <number> <turns> <side 1 left> <side 2 left> <hp/max hp of each unit ...>

equipoise = {}

local FOLDER = "~add-ons/equipoise/"
local traits, artifacts = {}, {}
local queue, battle = {}, nil

local function say(...)
    std_print("EQ", ...)
end

local function best_damage(unit_type, range)
    local best = 0
    for _, attack in ipairs(unit_type.attacks) do
        if attack.range == range then best = math.max(best, attack.damage) end
    end
    return best
end

local function say_units(role, faction, names)
    for name in tostring(names or ""):gmatch("[^,]+") do
        local t = wesnoth.unit_types[name]
        if t then
            say("unit", role, tostring(faction.name), t.id, tostring(t.name), t.level, t.cost, t.max_hitpoints,
                t.max_moves, best_damage(t, "melee"), best_damage(t, "ranged"))
        end
    end
end

-- World Conquest implements some effects, abilities and specials in scripts of its own, which do not run here; their
-- names begin with "wc2_". Values with "$" need its variables.
local function needs_world_conquest(cfg)
    for _, value in pairs(cfg) do
        if type(value) == "table" and needs_world_conquest(value) then return true end
        if type(value) == "string" and (value:match("^wc2_") or value:match("%$")) then return true end
    end
    return false
end

-- The effects that the plain game knows; nil for an artifact that is more than those, or only decoration.
local function usable_effects(artifact)
    local effects, matters = {}, false
    for effect in wml.child_range(artifact, "effect") do
        if effect.apply_to ~= "new_animation" then
            if needs_world_conquest(effect) then return nil end
            matters = true
            table.insert(effects, wml.tag.effect(effect))
        end
    end
    return matters and effects or nil
end

local function catalog()
    local index = 0
    for _, entry in ipairs(wml.literal(equipoise_catalog)) do
        local tag, cfg = entry[1], entry[2]
        if tag == "multiplayer_side" then
            say_units("leader", cfg, cfg.leader)
            say_units("recruit", cfg, cfg.recruit)
        elseif tag == "trait" then
            traits[cfg.id] = cfg
            say("trait", cfg.id, tostring(cfg.male_name or cfg.name), tostring(cfg.help_text or ""):gsub("%s+", " "))
        elseif tag == "artifact" then
            index = index + 1
            local effects = usable_effects(cfg)
            if effects then
                artifacts[index] = effects
                say("artifact", index, tostring(cfg.name), (tostring(cfg.description):gsub("%s+", " ")))
            end
        end
    end
end

local function change(kind, extra)
    extra.apply_to = kind
    return wml.tag.effect(extra)
end

local function patch(unit, hitpoints, moves, melee, ranged, resistance)
    local effects = {}
    if hitpoints ~= 0 then table.insert(effects, change("hitpoints", { increase_total = hitpoints })) end
    if moves ~= 0 then table.insert(effects, change("movement", { increase = moves })) end
    if melee ~= 0 then table.insert(effects, change("attack", { range = "melee", increase_damage = melee })) end
    if ranged ~= 0 then table.insert(effects, change("attack", { range = "ranged", increase_damage = ranged })) end
    if resistance ~= 0 then
        local shift = {}
        for _, kind in ipairs { "blade", "pierce", "impact", "fire", "cold", "arcane" } do shift[kind] = -resistance end
        table.insert(effects, change("resistance", { replace = false, wml.tag.resistance(shift) }))
    end
    if #effects > 0 then unit:add_modification("object", effects) end
end

local function create(order)
    local side, x, y, kind, trait, artifact = table.unpack(order, 1, 6)
    local unit = wesnoth.units.create {
        type = kind, side = tonumber(side), id = "eq-" .. side .. "-" .. x .. "-" .. y,
        random_traits = false, generate_name = false,
    }
    patch(unit, table.unpack(order, 7, 11))
    if traits[trait] then unit:add_modification("trait", traits[trait]) end
    if artifacts[artifact] then unit:add_modification("object", artifacts[artifact]) end
    unit.hitpoints = unit.max_hitpoints
    unit.moves = unit.max_moves
    unit:to_map(tonumber(x), tonumber(y))
    return { id = unit.id, max = unit.max_hitpoints }
end

local function clear()
    for _, unit in ipairs(wesnoth.units.find_on_map {}) do unit:erase() end
end

local function read_work()
    pcall(filesystem.read_file, FOLDER .. "gate")
    local current
    for line in filesystem.read_file(FOLDER .. "work"):gmatch("[^\n]+") do
        local f = {}
        for field in (line .. "\t"):gmatch("([^\t]*)\t") do table.insert(f, field) end
        if f[1] == "battle" then
            current = { number = f[2], start = tonumber(f[3]), limit = tonumber(f[4]), orders = {} }
        elseif f[1] == "unit" then
            local order = { table.unpack(f, 2, 6) }
            for i = 7, 12 do table.insert(order, math.tointeger(tonumber(f[i]))) end
            table.insert(current.orders, order)
        elseif f[1] == "end" then
            table.insert(queue, current)
        end
    end
end

-- Called with the next turn belonging to side 1 (turn start) or just before it.
local function begin(turn)
    while #queue == 0 do
        say("idle")
        read_work()
    end
    battle = table.remove(queue, 1)
    wesnoth.wml_actions.modify_turns { current = battle.start + turn }
    battle.units = {}
    for _, order in ipairs(battle.orders) do table.insert(battle.units, create(order)) end
    battle.first = battle.start + 1
end

local function finish(turns, left, right)
    local life = {}
    for _, record in ipairs(battle.units) do
        local unit = wesnoth.units.get(record.id)
        table.insert(life, (unit and unit.valid == "map" and unit.hitpoints or 0) .. "/" .. record.max)
    end
    say("result", battle.number, turns, left, right, table.concat(life, " "))
    battle = nil
    clear()
end

function equipoise.start()
    say("version", tostring(wesnoth.current_version()))
    catalog()
    say("ready")
    begin(1)
end

function equipoise.turn_end()
    local side = wesnoth.current.side
    if battle then
        local left, right = wesnoth.units.find_on_map { side = 1 }, wesnoth.units.find_on_map { side = 2 }
        local turns = wesnoth.current.turn - battle.first + 1
        if #left == 0 or #right == 0 or (turns >= battle.limit and side == 2) then finish(turns, #left, #right) end
    end
    if not battle and side == 2 then begin(0) end
end
